import { isMainThread } from 'node:worker_threads'
import type { Absence } from '@tandem-gpu/core'
import { bundledRemedy, denoRemedy } from '@tandem-gpu/core/native'
import { cLibrary } from './c-library.ts'
import type { WebGpuOptions } from './options.ts'
import { chooseSources, findSources, type GpuSource, type Platform, type PlatformReport } from './platform.ts'
import { saysNotFound, swiftShaderPackage, withVulkanDriver } from './software-vulkan.ts'

type Found = { hardware: GpuSource[]; software: GpuSource[] }

const softwarePackage = '@tandem-gpu/swiftshader-linux-x64'

/**
 * Every Dawn instance created so far, with the adapters it found. Dawn crashes the process if an instance is
 * garbage-collected before its objects, so instances are kept forever, one for each set of toggles.
 */
const instances = new Map<string, Promise<Found>>()

/**
 * Whether the system has a Vulkan loader, checked before the process loads the bundled one. Without a loader
 * Dawn finds nothing and warns on stderr.
 */
let systemVulkan: boolean | undefined

/** Searches run one at a time, because they change the environment of the process. */
let searching: Promise<unknown> = Promise.resolve()

/** Dawn, from the npm package `webgpu`. */
export const dawnPlatform: Platform = (options) => {
  const search = searching.then(() => searchDawn(options))
  searching = search.catch(() => undefined)
  return search
}

async function searchDawn(options: WebGpuOptions): Promise<PlatformReport> {
  const preference = options.software ?? 'allow'
  if (options.gpu !== undefined) {
    const sources = chooseSources(await findSources(options.gpu), preference)
    return sources.length > 0 ? { sources, notes: [] } : absent(noAdapter(preference))
  }
  let create: (flags: string[]) => GPU
  try {
    ;({ create } = await import('webgpu'))
  } catch (error) {
    return absent(dawnAbsence(error))
  }
  const flags = dawnFlags(options)
  const instance = (name: string): Promise<Found> => {
    const key = [name, ...flags].join(' ')
    let found = instances.get(key)
    if (found === undefined) {
      found = findSources(create([...flags]))
      instances.set(key, found)
    }
    return found
  }

  systemVulkan ??= process.platform !== 'linux' || (await cLibrary()).load('libvulkan.so.1')
  const system: Found = systemVulkan ? await instance('system') : { hardware: [], software: [] }
  const sources = chooseSources(system, preference)
  const wantsSoftware = preference === 'prefer' ? system.software.length === 0 : sources.length === 0
  if (preference === 'never' || !wantsSoftware) {
    return sources.length > 0 ? { sources, notes: [] } : absent(noAdapter(preference, system))
  }

  if (process.platform === 'linux' && process.arch === 'x64') {
    const swiftShader = await swiftShaderPackage()
    if (swiftShader === 'bundled' && sources.length === 0) return absent(bundled(softwarePackage))
    if (typeof swiftShader !== 'string') {
      const { loaderPath, icdPath } = swiftShader
      if (systemVulkan || (await cLibrary()).load(loaderPath)) {
        const { software } = await withVulkanDriver(icdPath, () => instance('swiftshader'))
        if (software.length > 0) return { sources: software, notes: [] }
      }
      if (sources.length > 0) return { sources, notes: [`SwiftShader (${icdPath}) could not be started.`] }
      return absent({
        code: 'no-driver',
        reason: `Dawn found no GPU, and SwiftShader (${icdPath}) could not be started.`,
        remedy: isMainThread
          ? `Before the process starts, set VK_DRIVER_FILES to that file and LD_LIBRARY_PATH to its folder, or install a Vulkan driver.`
          : 'Start the worker thread with the option env: SHARE_ENV, or install a Vulkan driver.',
      })
    }
  }
  if (sources.length > 0) return { sources, notes: [] }
  return absent(noAdapter(preference, system))
}

/** The platforms for which Dawn's package contains a library. */
const dawnPlatforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64']

function dawnAbsence(error: unknown): Absence {
  const platform = `${process.platform}-${process.arch}`
  if (saysNotFound(error, 'webgpu') && !saysNotFound(error, 'dawn.node')) {
    return {
      code: 'unsupported',
      reason: 'Dawn (npm package webgpu) is not installed.',
      remedy:
        'Run npm install webgpu. A bundle needs a node_modules folder next to it, with every package that it leaves external.',
      missing: 'package',
    }
  }
  // When bundled, webgpu looks for its library next to the bundle, or (in CommonJS) cannot locate it.
  if (dawnPlatforms.includes(platform) && (saysNotFound(error, 'dawn.node') || error instanceof TypeError))
    return bundled('webgpu')
  return {
    code: 'no-driver',
    reason: `Dawn (npm package webgpu) cannot be loaded on ${platform}: ${firstLine(error)}.`,
    remedy:
      (error as { name?: string }).name === 'NotCapable'
        ? denoRemedy
        : 'Use Linux with glibc (x64, arm64), macOS or Windows.',
  }
}

function bundled(packageName: string): Absence {
  return {
    code: 'unsupported',
    reason: `The package ${packageName} is bundled into another file, but its native library remained in the package.`,
    remedy: `${bundledRemedy}.`,
  }
}

/** Disables the quantization of timestamps, which only serves to protect web pages from one another. */
function dawnFlags(options: WebGpuOptions): readonly string[] {
  const toggles = options.toggles ?? []
  const enabled = toggles.length > 0 ? [`enable-dawn-features=${toggles.join(',')}`] : []
  return [...enabled, 'disable-dawn-features=timestamp_quantization']
}

function absent(absence: Absence): PlatformReport {
  return { sources: [], absence, notes: [] }
}

function noAdapter(preference: 'prefer' | 'allow' | 'never', found?: Found): Absence {
  if (preference === 'never') {
    const only = (found?.software.length ?? 0) > 0 ? 'only a software adapter' : 'no adapter'
    return {
      code: 'no-device',
      reason: `Dawn found ${only}, and the option software is "never".`,
      remedy: "Install the GPU's driver including Vulkan support, or allow software adapters.",
    }
  }
  const linux = process.platform === 'linux'
  const vulkan = linux ? 'Dawn found no Vulkan driver that it can use' : 'Dawn found no GPU'
  return {
    code: 'no-driver',
    reason: `${vulkan}, and there is no software adapter.`,
    remedy:
      linux && process.arch === 'x64'
        ? `Run npm install ${softwarePackage} for a software adapter, or install the GPU's Vulkan driver.`
        : linux
          ? "Install the GPU's Vulkan driver, or Mesa 25 or newer (mesa-vulkan-drivers) for a software adapter."
          : "Install the GPU's driver.",
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n')[0] ?? ''
}
