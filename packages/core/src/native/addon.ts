import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A package of Tandem that holds an addon in `prebuilds`, as node-gyp-build finds it. */
export interface AddonPackage {
  readonly name: string
  /**
   * `import.meta.url` of a module one folder below package.json. Undefined in code that is bundled into
   * CommonJS.
   */
  readonly moduleUrl: string | undefined
  /** The call that makes its backend, as in `cuda()`. */
  readonly backend: string
}

/** Why an addon does not load, in two sentences. */
export interface AddonFailure {
  readonly reason: string
  readonly remedy: string
  /**
   * `foreign`: the package has no addon for this platform or its C library. `skipped`: a clone was built
   * without it on purpose. `broken`: the addon should be there.
   */
  readonly kind: 'foreign' | 'skipped' | 'broken'
}

/** The platforms for which tools/build-addon builds. */
const platforms = ['linux-x64', 'linux-arm64']
const builtFor = 'It is built for Linux on x64 and arm64 with glibc 2.34 or newer.'

/** The remedy if a bundler includes code whose native library remains in its package. */
export const bundledRemedy =
  'Tell the bundler that @tandem-gpu/* and webgpu are external, and install them in node_modules (see https://github.com/tandem-gpu/tandem/blob/main/docs/support.md#bundlers)'

/** The remedy for Deno's error `NotCapable`. */
export const denoRemedy = 'Run Deno with --allow-ffi --allow-read --allow-env --allow-sys.'

/**
 * Returns a function that returns the addon, or the error if it does not load. It loads the addon at the
 * first call, and never throws.
 */
export function addonLoader<Addon>({ moduleUrl }: AddonPackage): () => Addon | Error {
  let loaded: Addon | Error | undefined
  return () => {
    if (loaded !== undefined) return loaded
    try {
      const require = createRequire(moduleUrl!)
      loaded = require('node-gyp-build')(fileURLToPath(new URL('..', moduleUrl))) as Addon
    } catch (error) {
      loaded = error instanceof Error ? error : new Error(String(error))
    }
    return loaded
  }
}

/** Interprets the error of an addon that does not load. */
export function addonFailure(
  { name, moduleUrl, backend }: AddonPackage,
  error: Error,
  platform = `${process.platform}-${process.arch}`,
): AddonFailure {
  const [firstLine = ''] = error.message.split('\n', 1)
  const reason = `The addon of ${name} cannot be loaded on ${platform}: ${firstLine.replace(/\.$/, '')}.`
  if (!platforms.includes(platform) || needsAnotherLibc(error))
    return { reason, remedy: builtFor, kind: 'foreign' }
  if (error.name === 'NotCapable') return { reason, remedy: denoRemedy, kind: 'broken' }
  const without = `remove ${backend} from the list of backends.`
  if (isBundled(name, moduleUrl))
    return {
      reason: `The package ${name} is bundled into another file, but its addon remained in the package.`,
      remedy: `${bundledRemedy}, or ${without}`,
      kind: 'broken',
    }
  const skipped = whyNotBuilt(moduleUrl, platform)
  if (skipped !== undefined)
    return {
      reason: `${name} was built without its addon: ${skipped}.`,
      remedy:
        'Install a C++ compiler, CMake and make, and run `npm run build` in the clone. If you installed its tarballs, run `npm run pack` too, and install them again.',
      kind: 'skipped',
    }
  return {
    reason,
    remedy: `In a clone, \`npm run build\` builds it (C++20, CMake); without it, ${without}`,
    kind: 'broken',
  }
}

/** Why tools/build-addon.mjs built no addon in this clone; undefined if it recorded no reason. */
function whyNotBuilt(moduleUrl: string | undefined, platform: string): string | undefined {
  try {
    return readFileSync(new URL(`../prebuilds/${platform}/not-built.txt`, moduleUrl), 'utf8').trim()
  } catch {
    return undefined
  }
}

/**
 * Matches the dynamic linker's message for a glibc that is too old, and musl's message for a missing glibc.
 */
function needsAnotherLibc(error: Error): boolean {
  return /GLIBC_\d|ld-linux|ld-musl|libc\.so|symbol not found/i.test(error.message)
}

/**
 * In a bundle, webpack replaces this name with a function. It also copies the package.json that the code
 * refers to.
 */
declare const __webpack_require__: unknown

/**
 * Whether the code at `moduleUrl` is not in the package `name`, where it is one folder below package.json.
 */
export function isBundled(name: string, moduleUrl: string | undefined): boolean {
  if (typeof __webpack_require__ === 'function') return true
  try {
    const text = readFileSync(new URL('../package.json', moduleUrl), 'utf8')
    return (JSON.parse(text) as { name?: string }).name !== name
  } catch {
    // The file or the URL does not exist.
    return true
  }
}
