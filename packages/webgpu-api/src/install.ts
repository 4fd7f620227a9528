import { globals } from './globals.ts'

/**
 * Sets `navigator.gpu` to `gpu` and defines the interfaces and constants of the API in the global scope.
 * Returns a function that undoes this.
 */
export function install(gpu: GPU): () => void {
  const undo: (() => void)[] = []
  const define = (target: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { value, configurable: true, enumerable: false, writable: true })
    undo.unshift(() => {
      if (before === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, before)
    })
  }
  // Node 20 has no navigator.
  if (!('navigator' in globalThis)) define(globalThis, 'navigator', {})
  define((globalThis as unknown as { navigator: object }).navigator, 'gpu', gpu)
  for (const [name, value] of Object.entries(globals)) define(globalThis, name, value)
  return () => {
    for (const step of undo.splice(0)) step()
  }
}
