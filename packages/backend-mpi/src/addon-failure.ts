import { readFileSync } from 'node:fs'
import { GpuError } from '@tandem-gpu/core'

const packageName = '@tandem-gpu/backend-mpi'
const platforms = ['linux-x64', 'linux-arm64']

/** What it means that the addon does not load, and what to do: an error, never an absence, since a job of many ranks was asked for. */
export function addonFailure(error: Error, platform = `${process.platform}-${process.arch}`): GpuError {
  const [firstLine = ''] = error.message.split('\n', 1)
  const reason = `The addon for MPI does not load on ${platform}: ${firstLine.replace(/\.$/, '')}.`
  const bundled = `${packageName} is bundled into another file, and its addon stays in the package. Tell the bundler that @tandem-gpu/* and webgpu are external, and keep them in node_modules (see https://github.com/tandem-gpu/tandem/blob/main/docs/support.md#bundlers), or leave mpi() out of the backends.`
  const message = !platforms.includes(platform)
    ? `${reason} It is built for Linux on x64 and arm64 with glibc 2.34 or newer.`
    : error.name === 'NotCapable'
      ? `${reason} Run Deno with --allow-ffi --allow-read --allow-env --allow-sys.`
      : isBundled()
        ? bundled
        : `${reason} In a clone, \`npm run build\` builds it (C++20, CMake).`
  return new GpuError('unsupported', message, { cause: error })
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
