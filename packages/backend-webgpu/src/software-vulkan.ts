import { existsSync } from 'node:fs'
import { cLibrary } from './c-library.ts'

/** The files of the SwiftShader package. */
export interface SwiftShaderFiles {
  readonly loaderPath: string
  readonly icdPath: string
}

/**
 * Finds the files of the SwiftShader package. `bundled` means that a bundler has inlined its code without its
 * libraries.
 */
export async function swiftShaderPackage(): Promise<SwiftShaderFiles | 'not-installed' | 'bundled'> {
  let files: SwiftShaderFiles
  try {
    files = await import('@tandem-gpu/swiftshader-linux-x64')
  } catch (error) {
    if (saysNotFound(error, '@tandem-gpu/swiftshader-linux-x64')) return 'not-installed'
    // Bundled into CommonJS, the package does not know where it is: there is no import.meta.url.
    if (error instanceof TypeError) return 'bundled'
    throw error
  }
  return existsSync(files.loaderPath) && existsSync(files.icdPath) ? files : 'bundled'
}

/**
 * Whether an import failed because the package is missing. Checks Node's error codes; Bun and Yarn's
 * Plug'n'Play use different names.
 */
export function saysNotFound(error: unknown, packageName: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  const notFound =
    code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || /cannot find/i.test(message)
  return notFound && message.includes(packageName)
}

/**
 * Runs `body` while the Vulkan loader reads `icdPath` as its only driver. The loader reads this only from the
 * environment, when an instance is created; afterwards the variables are restored. The loader does not see a
 * worker thread's own environment: start the worker with `env: SHARE_ENV`.
 */
export async function withVulkanDriver<T>(icdPath: string, body: () => Promise<T>): Promise<T> {
  const c = await cLibrary()
  const names = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES']
  const before = names.map((name) => process.env[name])
  for (const name of names) c.setVariable(name, icdPath)
  try {
    return await body()
  } finally {
    for (const [i, name] of names.entries()) c.setVariable(name, before[i])
  }
}
