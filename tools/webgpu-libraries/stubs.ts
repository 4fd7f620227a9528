// Globals that libraries for browsers expect and Node does not have. None of them draws anything, and no
// library is changed.

/** For three.js: its renderer needs a canvas, although it only computes here, and counts frames. */
export function stubCanvas(): object {
  Object.assign(globalThis, {
    self: globalThis,
    requestAnimationFrame: () => 0,
    cancelAnimationFrame: () => {},
  })
  const context = { configure() {}, unconfigure() {} }
  return {
    width: 1,
    height: 1,
    style: {},
    getContext: () => context,
    addEventListener() {},
    removeEventListener() {},
  }
}

/** For wonnx, whose WebAssembly was built for web pages: it needs `window`, an instance of `Window`. */
export function stubWindow(): void {
  class Window {}
  Object.setPrototypeOf(globalThis, Window.prototype)
  Object.assign(globalThis, { Window, window: globalThis })
}

/**
 * For TVM: the WebAssembly half of a compiled model library. Such libraries are not on npm; this stub has a
 * memory like theirs, and forwards the functions that the runtime registers for them.
 */
export interface ModelLibrary {
  readonly bytes: Uint8Array
  readonly functions: Map<string, (...values: never[]) => unknown>
  /** The value of `this` for `Instance.prototype.initWebGPU`. */
  readonly instance: object
}

export function stubModelLibrary(byteLength: number): ModelLibrary {
  const bytes = new Uint8Array(byteLength)
  const functions = new Map<string, (...values: never[]) => unknown>()
  const register = (name: string, value: (...values: never[]) => unknown) => functions.set(name, value)
  const loadRawBytes = (pointer: number, length: number) => bytes.slice(pointer, pointer + length)
  const instance = {
    memory: {
      loadRawBytes,
      viewRawBytes: loadRawBytes,
      storeRawBytes: (pointer: number, stored: Uint8Array) => bytes.set(stored, pointer),
    },
    lib: {},
    asyncifyHandler: { enabled: () => false },
    registerFunc: register,
    registerAsyncServerFunc: register,
    dispose() {},
  }
  return { bytes, functions, instance }
}
