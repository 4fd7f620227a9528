/// <reference lib="esnext.disposable" preserve="true" />

// Names that the public declarations use but a program's own `lib` and `types` may lack: Symbol.dispose
// before `esnext`, and AbortSignal without DOM and Node types. If the real interface is present, this one
// merges with it.
declare global {
  interface AbortSignal {}
}

export {}
