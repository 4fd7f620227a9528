// What needs Node: addons, folders of caches, and files that others name. The main entry runs in browsers
// too.
export * from './addon.ts'
export * from './make-folder.ts'
export * from './regular-file.ts'
