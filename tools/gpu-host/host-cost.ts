import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allocateSharded, compileTranspose, recordTranspose } from '@tandem-gpu/algorithms'
import { type Backend, openGroup } from '@tandem-gpu/core'
import { type HostCost, middle } from './table-documents.ts'

/** Measures the host's overhead in addition to the devices' own time. */
export async function recordingSeconds(backend: Backend, devices: number): Promise<HostCost> {
  const group = await openGroup({ backends: [backend], devices })
  const kernel = await compileTranspose(group, { type: 'f32' })
  const input = await allocateSharded(group, 'f32', 8192, 8192)
  const output = await allocateSharded(group, 'f32', 8192, 8192)
  const record = () => group.record((r) => void recordTranspose(r, group, { kernel, input, output }))
  const times = Array.from({ length: 20 }, () => {
    const from = performance.now()
    record().destroy()
    return (performance.now() - from) / 1000
  })
  const program = record()
  await group.queue.run(program, 1000)
  const from = performance.now()
  const { seconds } = await group.queue.run(program, 1000)
  const runHostSeconds = (performance.now() - from) / 1000
  program.destroy()
  for (const resource of [kernel, input, output]) resource.destroy()
  await group.destroy()
  return {
    devices,
    ...(backend.name === 'cuda' ? firstOpen(devices) : {}),
    recordSeconds: middle(times),
    runHostSeconds,
    runDeviceSeconds: seconds,
  }
}

/** Medians of five fresh processes each, in turn. */
function firstOpen(devices: number): Pick<HostCost, 'firstOpenSeconds' | 'contextSeconds'> {
  const program = join(mkdtempSync(join(tmpdir(), 'tandem-contexts-')), 'contexts')
  const source = new URL('../peers/contexts.c', import.meta.url).pathname
  const script = `
    import { cuda } from '@tandem-gpu/backend-cuda'
    import { openGroup } from '@tandem-gpu/core'
    const start = performance.now()
    const group = await openGroup({ backends: [cuda()], devices: ${devices} })
    console.log((performance.now() - start) / 1000)
    await group.destroy()`
  execFileSync('cc', [source, '-ldl', '-o', program])
  const samples = Array.from({ length: 5 }, () => ({
    context: Number(execFileSync(program, [String(devices)])),
    open: Number(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: import.meta.dirname }),
    ),
  }))
  return {
    firstOpenSeconds: middle(samples.map((s) => s.open)),
    contextSeconds: middle(samples.map((s) => s.context)),
  }
}
