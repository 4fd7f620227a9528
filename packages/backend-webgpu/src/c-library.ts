import { constants } from 'node:os'

/** The functions of the C library that finding a Vulkan driver needs. */
export interface CLibrary {
  /** Loads a shared library, so that a later dlopen finds it. Returns whether it exists. */
  load(nameOrPath: string): boolean
  /** Sets a variable of the environment that native code sees, or removes it (undefined). */
  setVariable(name: string, value: string | undefined): void
}

/** glibc's RTLD_NODELETE: the library stays in the process when dlopen's caller gives its handle back. */
const keepLoaded = 0x1000
const flags = constants.dlopen.RTLD_NOW | keepLoaded

let found: Promise<CLibrary> | undefined

/**
 * The C library, accessed in the way that each runtime supports. Node uses its own functions. Bun and Deno
 * inspect a library before they load it and reject anything but an addon, and in Bun `process.env` does not
 * change the C library's environment, so both use their foreign function interface.
 */
export function cLibrary(): Promise<CLibrary> {
  found ??= (async () => {
    if (process.versions.bun !== undefined) return bunCLibrary()
    return process.versions.deno !== undefined ? denoCLibrary() : nodeCLibrary
  })()
  return found
}

function setProcessVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

const nodeCLibrary: CLibrary = {
  load(nameOrPath) {
    try {
      process.dlopen({ exports: {} }, nameOrPath, flags)
      return true
    } catch (error) {
      // Node treats the library as an addon and always throws; only these messages mean that it is missing.
      return !/cannot open shared object|invalid ELF|wrong ELF|image not found/i.test(String(error))
    }
  },
  setVariable: setProcessVariable,
}

interface BunFfi {
  dlopen(
    name: string,
    symbols: object,
  ): {
    readonly symbols: {
      dlopen(name: Uint8Array, flags: number): unknown
      setenv(name: Uint8Array, value: Uint8Array, overwrite: number): number
      unsetenv(name: Uint8Array): number
    }
  }
}

async function bunCLibrary(): Promise<CLibrary> {
  // Not a literal, because bundlers for other runtimes would try to resolve the module.
  const specifier = 'bun:ffi'
  const ffi = (await import(/* webpackIgnore: true */ /* @vite-ignore */ specifier)) as BunFfi
  const { symbols } = ffi.dlopen('libc.so.6', {
    dlopen: { args: ['cstring', 'i32'], returns: 'ptr' },
    setenv: { args: ['cstring', 'cstring', 'i32'], returns: 'i32' },
    unsetenv: { args: ['cstring'], returns: 'i32' },
  })
  return {
    load: (nameOrPath) => symbols.dlopen(cString(nameOrPath), flags) !== null,
    setVariable(name, value) {
      setProcessVariable(name, value)
      if (value === undefined) symbols.unsetenv(cString(name))
      else symbols.setenv(cString(name), cString(value), 1)
    },
  }
}

interface DenoGlobal {
  dlopen(
    name: string,
    symbols: object,
  ): { readonly symbols: { dlopen(name: Uint8Array, flags: number): unknown } }
}

function denoCLibrary(): CLibrary {
  const { Deno } = globalThis as unknown as { Deno: DenoGlobal }
  const { symbols } = Deno.dlopen('libc.so.6', {
    dlopen: { parameters: ['buffer', 'i32'], result: 'pointer' },
  })
  return {
    load: (nameOrPath) => symbols.dlopen(cString(nameOrPath), flags) !== null,
    setVariable: setProcessVariable,
  }
}

function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`)
}
