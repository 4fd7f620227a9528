import { chooseSources, findSources, type Platform } from './platform.ts'

/** `navigator.gpu` of a page, a worker or Deno, or the caller's `gpu`. */
export const browserPlatform: Platform = async (options) => {
  const gpu = options.gpu ?? (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu
  if (gpu === undefined) {
    return {
      sources: [],
      notes: [],
      absence: {
        code: 'no-driver',
        reason:
          'navigator.gpu does not exist: this browser has no WebGPU, or the page is not a secure context.',
        remedy: 'Serve the page over https or from localhost, and use a browser with WebGPU enabled.',
      },
    }
  }
  const found = await findSources(gpu)
  const sources = chooseSources(found, options.software ?? 'allow')
  if (sources.length > 0) return { sources, notes: [] }
  return {
    sources,
    notes: [],
    absence: {
      code: 'no-device',
      reason:
        found.software.length > 0
          ? 'Only a software adapter is available, and the option software is "never".'
          : 'navigator.gpu offers no adapter: the browser found no GPU that it can use.',
      remedy: 'Update the graphics driver, or start Chromium with --enable-unsafe-webgpu.',
    },
  }
}
