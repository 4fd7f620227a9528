// Everything that needs Node: addons, cache folders, and files whose paths the user passes. The main entry
// also runs in browsers.
export * from './addon.ts'
export * from './make-folder.ts'
export * from './regular-file.ts'
