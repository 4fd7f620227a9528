import { constants } from 'node:os'

/** glibc's RTLD_NODELETE: the loader stays in the process when dlopen's caller gives its handle back. */
const keepLoaded = 0x1000

/**
 * Loads a shared library for whoever dlopens it next, and says whether it is there. Node takes it for a native addon and throws in
 * any case; only "cannot open" means that it is missing.
 */
export function loadLibrary(nameOrPath: string): boolean {
  try {
    process.dlopen({ exports: {} }, nameOrPath, constants.dlopen.RTLD_NOW | keepLoaded)
    return true
  } catch (error) {
    return !/cannot open shared object|invalid ELF|wrong ELF|image not found/i.test(String(error))
  }
}

/** The package with SwiftShader, or undefined where it is not installed. */
export async function swiftShaderPackage(): Promise<{ loaderPath: string; icdPath: string } | undefined> {
  try {
    return await import('@tandem-gpu/swiftshader-linux-x64')
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/**
 * Runs `body` while the Vulkan loader reads `icdPath` as its only driver. The loader takes this from the environment alone, when an
 * instance is made; afterwards the variables are what they were. The loader does not see a worker thread's own environment: start
 * the worker with `env: SHARE_ENV`.
 */
export async function withVulkanDriver<T>(icdPath: string, body: () => Promise<T>): Promise<T> {
  const names = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES']
  const before = names.map((name) => process.env[name])
  for (const name of names) process.env[name] = icdPath
  try {
    return await body()
  } finally {
    names.forEach((name, i) => {
      const value = before[i]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    })
  }
}
