import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { access, chmod, constants, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'

const execute = promisify(execFile)

/** A Chromium to start, or why there is none. */
export type ChromiumReport =
  | { readonly executablePath: string; readonly env: Record<string, string> }
  | { readonly missing: string }

const systemPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/**
 * The system's Chromium, else the one inside the development dependency `@sparticuz/chromium`, unpacked once
 * into node_modules/.cache.
 */
export async function findChromium(): Promise<ChromiumReport> {
  for (const executablePath of systemPaths) {
    if (await executable(executablePath)) return { executablePath, env: {} }
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return {
      missing: `a Chromium for ${process.platform}-${process.arch} (looked for ${systemPaths.join(', ')})`,
    }
  }
  const packageFolder = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..')
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
  const cache = join(packageFolder, '..', '..', '.cache', 'tandem')
  const folder = join(cache, `chromium-${version}`)
  if (!existsSync(folder)) {
    const unpacking = `${folder}.${process.pid}`
    await mkdir(unpacking, { recursive: true })
    const archive = (name: string) => createReadStream(join(packageFolder, 'bin', name))
    const executablePath = join(unpacking, 'chromium')
    await Promise.all([
      pipeline(archive('chromium.br'), createBrotliDecompress(), createWriteStream(executablePath)),
      untar(archive('swiftshader.tar.br'), unpacking),
      // The libraries that a bare system lacks: NSS, Expat and more.
      untar(archive('al2023.tar.br'), join(unpacking, 'al2023')),
    ])
    await chmod(executablePath, 0o755)
    await rename(unpacking, folder).catch(async (error: unknown) => {
      await rm(unpacking, { recursive: true, force: true })
      // Another process was faster.
      if (!existsSync(folder)) throw error
    })
  }
  return { executablePath: join(folder, 'chromium'), env: { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') } }
}

async function untar(archive: NodeJS.ReadableStream, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  // By way of a file: tar stops reading where the archive ends, before the padding that follows, and a pipe
  // then breaks.
  const file = `${folder}.${randomUUID()}.tar`
  await pipeline(archive, createBrotliDecompress(), createWriteStream(file))
  await execute('tar', ['-x', '-C', folder, '-f', file])
  await rm(file)
}

async function executable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * WebGPU on SwiftShader, in a sandbox of nobody's: containers run as root, and nothing outside is reached.
 */
export const chromiumArguments: readonly string[] = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]
