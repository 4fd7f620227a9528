// What needs Node: addons and folders of caches. The main entry runs in browsers too.
export * from './addon.ts'
export * from './make-folder.ts'
