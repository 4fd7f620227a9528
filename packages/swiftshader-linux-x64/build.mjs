#!/usr/bin/env node
// Unpacks SwiftShader, its Vulkan loader and the driver manifest into lib/ from the archive inside the root's
// development dependency
// @sparticuz/chromium. Runs in every build and before publishing; does nothing when lib/ already holds this
// version.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))
const libFolder = join(here, 'lib')
const wanted = ['libvk_swiftshader.so', 'libvulkan.so.1', 'vk_swiftshader_icd.json']

const chromiumFolder = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..')
const { version } = JSON.parse(readFileSync(join(chromiumFolder, 'package.json'), 'utf8'))
const stamp = `SwiftShader and the Vulkan loader of Chromium ${version}, from @sparticuz/chromium ${version}\n`
const stampPath = join(libFolder, 'VERSION')

if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  const files = filesOfTar(
    brotliDecompressSync(readFileSync(join(chromiumFolder, 'bin', 'swiftshader.tar.br'))),
  )
  const folder = `${libFolder}.${process.pid}`
  mkdirSync(folder, { recursive: true })
  for (const name of wanted) {
    const bytes = files.get(name)
    if (bytes === undefined)
      throw new Error(`@sparticuz/chromium ${version} has no ${name} in bin/swiftshader.tar.br`)
    writeFileSync(join(folder, name), bytes)
  }
  writeFileSync(join(folder, 'LICENSE'), readFileSync(join(here, 'LICENSE')))
  writeFileSync(join(folder, 'VERSION'), stamp)
  // A whole folder appears at once: two builds side by side do not see half of it.
  rmSync(libFolder, { recursive: true, force: true })
  renameSync(folder, libFolder)
}

/** The regular files of a ustar archive: 512-byte headers, each followed by its file padded to 512 bytes. */
function filesOfTar(archive) {
  const text = (offset, length) => archive.toString('latin1', offset, offset + length).replace(/\0.*$/s, '')
  const files = new Map()
  for (let offset = 0; offset + 512 <= archive.length && archive[offset] !== 0; ) {
    const byteLength = Number.parseInt(text(offset + 124, 12), 8)
    const type = text(offset + 156, 1)
    if (type === '0' || type === '') {
      files.set(
        text(offset, 100).replace(/^\.\//, ''),
        archive.subarray(offset + 512, offset + 512 + byteLength),
      )
    }
    offset += 512 + Math.ceil(byteLength / 512) * 512
  }
  return files
}
