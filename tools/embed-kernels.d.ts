import type { Plugin } from 'vite';
/**
 * Kernels live in `x.wgsl` files; packages import them from `x.wgsl.ts`, which only this file makes (git ignores it), so that
 * the published packages need neither a bundler nor a file system.
 *
 * As a script: `node tools/embed-kernels.ts` writes the modules of every package. Unchanged ones keep their time stamp.
 */
export declare function kernelModule(wgslPath: string): string;
/** Vite plugin: `./x.wgsl.ts` is made from `x.wgsl` as it is now, whether or not the script ran. */
export declare function embedKernels(): Plugin;
