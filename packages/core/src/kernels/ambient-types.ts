/// <reference lib="esnext.disposable" preserve="true" />

// What the public declarations name and a program's own `lib` and `types` may lack: Symbol.dispose before
// `esnext`, and AbortSignal where there are neither DOM nor Node types. An interface of the same name merges
// with the real one where that is present.
declare global {
  interface AbortSignal {}
}

export {}
