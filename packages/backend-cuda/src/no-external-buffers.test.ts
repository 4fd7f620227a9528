import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { fakeLibraries } from './testing/fake-driver.ts'

// Electron's memory cage does not allow an ArrayBuffer over an addon's own memory. Here, the addon's import
// of the function that creates one is renamed to a function that fails as in Electron; the rest is the addon
// as shipped.

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

it('page-locks an ordinary ArrayBuffer if the runtime does not allow external ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-no-external-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const refusal = join(folder, 'refusal.so')
  const source = `${packageFolder}native/test/no_external_buffers.c`
  const built = spawnSync('cc', ['-shared', '-fPIC', source, '-o', refusal], { encoding: 'utf8' })
  expect(built.status, built.stderr).toBe(0)

  const prebuilt = `${packageFolder}prebuilds/${process.platform}-${process.arch}/@tandem-gpu+backend-cuda.node`
  const bytes = readFileSync(prebuilt, 'latin1')
  const imported = '\0napi_create_external_arraybuffer\0'
  expect(bytes.split(imported)).toHaveLength(2)
  const addon = join(folder, 'addon.node')
  writeFileSync(addon, bytes.replace(imported, '\0test_create_external_arraybuffer\0'), 'latin1')

  const script = `
    import { createRequire } from 'node:module'
    import { allocateHost, freeHost } from ${JSON.stringify(`${packageFolder}src/host-memory.ts`)}
    const addon = createRequire(import.meta.url)(${JSON.stringify(addon)})
    const native = await addon.openGroup(${JSON.stringify(fakeLibraries().cuda)}, [0])
    const refused = native.mapHost(4096)
    const memory = allocateHost(native, 4096, (lock) => lock())
    await memory.locked
    const { address } = memory
    const { byteLength } = memory.arrayBuffer
    freeHost(native, memory)
    const detached = memory.arrayBuffer.byteLength === 0
    await native.close()
    console.log(JSON.stringify({ refused: refused === undefined, mapped: memory.mapped, locked: address > 0, byteLength, detached }))`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--no-warnings', '-e', script],
    { cwd: packageFolder, encoding: 'utf8', env: { ...process.env, LD_PRELOAD: refusal } },
  )
  expect(status, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    refused: true,
    mapped: false,
    locked: true,
    byteLength: 4096,
    detached: true,
  })
})
