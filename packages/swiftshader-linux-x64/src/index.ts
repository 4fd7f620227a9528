import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

function libPath(name: string): string {
  return fileURLToPath(new URL(`../lib/${name}`, import.meta.url))
}

/** The Vulkan driver that computes on the CPU. */
export const libraryPath: string = libPath('libvk_swiftshader.so')

/** The Vulkan loader, for systems that have none. */
export const loaderPath: string = libPath('libvulkan.so.1')

/** The manifest that names the driver to the loader: what `VK_DRIVER_FILES` must point at. */
export const icdPath: string = libPath('vk_swiftshader_icd.json')

/** The Chromium release that the two libraries are from, for example `153.0.0`. */
export function version(): string {
  return readFileSync(libPath('VERSION'), 'utf8').match(/Chromium (\S+),/)?.[1] ?? 'unknown'
}
