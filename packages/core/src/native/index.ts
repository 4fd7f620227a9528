// For backends with native code, in Node alone; the main entry runs in browsers too.
export * from './addon.ts'
