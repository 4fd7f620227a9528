import { readFileSync } from 'node:fs'
import { type Absence, GpuError } from '@tandem-gpu/core'

const packageName = '@tandem-gpu/backend-cuda'
const platforms = ['linux-x64', 'linux-arm64']

/**
 * Interprets the error of an addon that does not load. An absence where the package has none for the platform or its C library. Elsewhere
 * the installation is broken, which throws `unsupported`: a group that asked for CUDA must not go on without it unnoticed.
 */
export function addonAbsence(error: Error, platform = `${process.platform}-${process.arch}`): Absence {
  const reason = `The CUDA addon does not load on ${platform}: ${firstLine(error.message)}.`
  if (!platforms.includes(platform) || needsAnotherLibc(error))
    return {
      code: 'unsupported',
      reason,
      remedy: 'It is built for Linux on x64 and arm64 with glibc 2.34 or newer.',
    }
  if (error.name === 'NotCapable')
    throw new GpuError(
      'unsupported',
      `${reason} Run Deno with --allow-ffi --allow-read --allow-env --allow-sys.`,
    )
  if (isBundled())
    throw new GpuError(
      'unsupported',
      `${packageName} is bundled into another file, and its addon stays in the package. Tell the bundler that @tandem-gpu/* and webgpu are external, and keep them in node_modules (see https://github.com/tandem-gpu/tandem/blob/main/docs/support.md#bundlers), or leave cuda() out of the backends.`,
      { cause: error },
    )
  throw new GpuError(
    'unsupported',
    `${reason} In a clone, \`npm run build\` builds it (C++20, CMake); without it, leave cuda() out of the backends.`,
    { cause: error },
  )
}

/** The dynamic linker's words for a glibc that is too old, and musl's for a glibc that is not there. */
function needsAnotherLibc(error: Error): boolean {
  return /GLIBC_\d|ld-linux|ld-musl|libc\.so|symbol not found/i.test(error.message)
}

/** In a bundle, webpack puts a function in the place of this name. It also copies the package.json that the code names. */
declare const __webpack_require__: unknown

/** In its own package, the built code stands one folder below package.json. */
function isBundled(): boolean {
  if (typeof __webpack_require__ === 'function') return true
  try {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { name?: string }).name !== packageName
  } catch {
    // There is no such file, or (in CommonJS) no import.meta.url.
    return true
  }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\.$/, '')
}
