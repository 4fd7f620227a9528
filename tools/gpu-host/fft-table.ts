// Times transforms on one GPU through CUDA, and prints them beside cuFFT's times where `peers.py --only fft` has written them:
//   python3 tools/peers/peers.py --only fft --out peers.json
//   node tools/gpu-host/fft-table.ts [peers.json] > fft.json
// Arrays hold 2^27 random complex numbers, or as many real ones. Results are not checked here: the tests of `fft` run on the GPU too.
import { readFileSync } from 'node:fs'
import {
  compileFft,
  type FftPlanOptions,
  fftLimits,
  planFft,
  printFftPlan,
  recordFft,
  shardedFromViews,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { type DeviceBuffer, openGroup } from '@tandem-gpu/core'

interface PeerResult {
  readonly work: string
  readonly variant: string
  readonly shape: Readonly<Record<string, number>>
  readonly seconds: number
}

type Work = Omit<FftPlanOptions, 'limits'>

const total = 2 ** 27
const lines = (length: number): Work => ({ shape: [Math.floor(total / length), length], axes: [1] })
const works: readonly Work[] = [
  ...[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192].map(lines),
  ...[14, 15, 16, 17, 18, 19, 20].map((bits) => lines(2 ** bits)),
  ...[243, 1000, 1536, 2401, 6561, 127, 1009, 2039, 8191].map(lines),
  { shape: [8192, 8192] },
  { shape: [8192, 8192], order: 'transposed' },
  { shape: [512, 512, 512] },
  { shape: [512, 512, 512], order: 'transposed' },
  ...[64, 128, 256, 512, 1024].map((length) => ({ shape: [length, total / length], axes: [0] })),
  ...[512, 1024, 4096, 65_536].flatMap((length) =>
    (['forward', 'inverse'] as const).map((direction) => ({ ...lines(length), real: true, direction })),
  ),
]

const [, , peersFile] = process.argv
const peers: readonly PeerResult[] =
  peersFile === undefined ? [] : JSON.parse(readFileSync(peersFile, 'utf8')).results
const group = await openGroup({ backends: [cuda()], devices: 1 })
try {
  const [device] = group.devices
  const spare = 2 ** 22
  const input = await device!.allocate('f32', 2 * total + spare, { zero: false })
  const output = await device!.allocate('f32', 2 * total + spare, { zero: false })
  const piece = Float32Array.from({ length: spare }, () => Math.random() * 2 - 1)
  for (let at = 0; at < 2 * total; at += spare) await group.queue.write(input.slice(at, spare), piece)
  const matrix = (buffer: DeviceBuffer<'f32'>, shape: readonly number[], real: boolean) => {
    const columns = shape.slice(1).reduce((product, length) => product * length, real ? 1 : 2)
    const view = buffer.slice(0, shape[0]! * columns).reshape(shape[0]!, columns)
    return shardedFromViews(group, 'f32', [view])
  }
  const results = []
  for (const work of works) {
    const plan = planFft({ ...work, limits: fftLimits(group.devices) })
    const fft = await compileFft(group, plan)
    const matrices = {
      input: matrix(input, plan.inputShape, plan.realInput),
      output: matrix(output, plan.outputShape, plan.realOutput),
    }
    const program = group.record((recorder) => recordFft(recorder, group, { fft, ...matrices }))
    await group.queue.run(program, 3)
    const samples: number[] = []
    for (let sample = 0; sample < 5; sample++) samples.push((await group.queue.run(program, 10)).seconds / 10)
    const seconds = samples.sort((a, b) => a - b)[2]!
    const peer = peers.find(
      ({ work: name, variant, shape }) =>
        name === 'fft' &&
        variant.endsWith('r2c') === plan.realInput &&
        Object.values(shape).join() === plan.shape.join(),
    )
    const ratio = peer === undefined || plan.realOutput ? undefined : peer.seconds / seconds
    results.push({ plan: printFftPlan(plan), seconds, ...(ratio !== undefined && { ofCufft: ratio }) })
    console.error(
      `${(seconds * 1e6).toFixed(1).padStart(9)} µs  ${ratio?.toFixed(3) ?? '     '}  ${printFftPlan(plan).split('\n').join(';')}`,
    )
    for (const one of [program, fft]) one.destroy()
  }
  console.log(JSON.stringify({ device: device!.info.name, results }, null, 2))
  for (const one of [input, output]) one.destroy()
} finally {
  await group.destroy()
}
