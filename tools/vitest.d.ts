import { type ViteUserConfig } from 'vitest/config';
/** The vitest configuration of one package; `configUrl` is the `import.meta.url` of its vitest.config.ts. */
export declare function tandemVitest(configUrl: string, overrides?: ViteUserConfig['test']): ViteUserConfig;
