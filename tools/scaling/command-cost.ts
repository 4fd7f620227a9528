import { fusedStripRows, fusedSweepsSeconds } from '../../packages/algorithms/src/jacobi/fused-strip.ts'
import { constants as c } from './machine.ts'
import type { Recorded, RecordedPlan } from './programs.ts'

type Command = RecordedPlan['commands'][number]
type Dispatch = Extract<Command, { kind: 'dispatch' }>
type Region = { readonly rows: number; readonly rowByteLength: number }

export const byteLengthOf = ({ rows, rowByteLength }: Region) => rows * rowByteLength

/** The seconds that a kernel takes on an idle H200. */
export function kernelSeconds({ plan, blocking }: Recorded, command: Dispatch): number {
  const deviceOf = (buffer: number) => {
    const found = plan.buffers[buffer]!
    return found.kind === 'device' ? found.device : command.device
  }
  const views = command.bindings.flatMap((binding) => (binding.kind === 'storage' ? [binding] : []))
  // Bytes read and written in the GPU's own memory, and bytes written to other GPUs.
  let bytes = 0
  let peerBytes = 0
  for (const { buffer, view, reads, writes } of views) {
    const byteLength = byteLengthOf(view)
    if (deviceOf(buffer) !== command.device) peerBytes += byteLength
    else bytes += (reads ? byteLength : 0) + (writes ? byteLength : 0)
  }
  const start = c.kernelStart.value
  const moved = (rate: number) => start + Math.max(bytes / rate, peerBytes / c.linkWriteRate.value)
  const viewOf = (name: string) => {
    const found = views.find((binding) => binding.name === name)
    if (found === undefined) throw new Error(`The kernel of "${command.label}" binds no ${name}.`)
    return byteLengthOf(found.view) / 4
  }
  const { label } = command
  if (label === 'fused sweeps') {
    const { view } = views.find(({ name }) => name === 'next')!
    const columns = view.rowByteLength / 4
    return start + fusedSweepsSeconds(view.rows, columns, fusedStripRows(view.rows, columns))
  }
  if (label === 'sweep') {
    const rate = bytes < c.cacheByteLength.value ? c.cachedSweepRate : c.sweepRate
    return start + viewOf('next') / rate.value
  }
  if (/^(transpose|scatter)|transpose A$/.test(label)) return moved(c.transposeRate.value)
  if (/^(reduce|merge)/.test(label)) return moved(c.sumRate.value)
  if (/^(pack|unpack)/.test(label) || /sum of parts$/.test(label)) return moved(c.transposeRate.value)
  if (/^(matmul|product)/.test(label)) {
    if (blocking === undefined) throw new Error(`The product "${label}" has no blocking.`)
    const parts = command.workgroups[2]
    const [a, b, sums] = [viewOf('a'), viewOf('b'), viewOf('c') / parts]
    const workgroups = command.workgroups.reduce((product, count) => product * count, 1)
    const k = Math.sqrt((a * b) / sums)
    // The whole tiles on the multiprocessor with the most tiles.
    const tileFlops = (2 * blocking.tileRows * blocking.tileColumns * k) / parts
    const rate = (blocking.body === 'transposed' ? c.productRate : c.tiledRate).value / c.processors.value
    return start + (Math.ceil(workgroups / c.processors.value) * tileFlops) / rate
  }
  throw new Error(`No cost is known for the kernel "${label}".`)
}

/** The resources that a copy, upload, download or fill occupies. */
export function copyCost(
  plan: RecordedPlan,
  command: Exclude<Command, { kind: 'dispatch' | 'send' | 'receive' }>,
): { readonly seconds: number; readonly uses: readonly (readonly [resource: string, seconds: number])[] } {
  const bytes = byteLengthOf(command.target)
  if (command.kind === 'fill') return { seconds: c.kernelStart.value, uses: [] }
  const placeOf = (buffer: number) => {
    const found = plan.buffers[buffer]!
    return found.kind === 'device' ? found.device : 'host'
  }
  const from = placeOf(command.source.buffer)
  const to = placeOf(command.target.buffer)
  const on = (rate: number, ...resources: string[]) => ({
    seconds: c.copyLatency.value + bytes / rate,
    uses: resources.map((resource) => [resource, bytes / rate] as const),
  })
  if (from === 'host' && to === 'host') return on(c.stagedRate.value, 'carrier')
  if (from === 'host') return on(c.uploadRate.value, `upload ${to}`)
  if (to === 'host') return on(c.downloadRate.value, `download ${from}`)
  if (from === to) return on(c.copyRate.value, `copies ${from}`)
  return on(c.linkCopyRate.value, `NVLink out of ${from}`, `NVLink into ${to}`)
}
