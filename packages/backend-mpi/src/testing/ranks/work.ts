// Every rank: random work with known results, for jobs that are disturbed (rank-jobs.ts). Prints its process
// before it joins the job.
//   mpirun -n 4 node work.ts INNER_BACKEND TRANSPORT SEED ROLE [ROUNDS]
// Roles: `work` ends after ROUNDS rounds. `endless` is in the middle of a run until the job ends. In `absent`
// rank 1 never joins; in `away` it joins and makes no further call. `exhaust` allocates all memory of rank
// 1's device.
import { createHash } from 'node:crypto'
import { jacobi, matmul, reduce, ringMatmul, transpose } from '@tandem-gpu/algorithms'
import { type DeviceBuffer, type DeviceGroup, isGpuError, openGroup } from '@tandem-gpu/core'
import { seededRandom } from '@tandem-gpu/core/testing'
import { detectLaunch } from '../../launcher.ts'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

const [inner = 'webgpu', transport = 'staged', seed = '1', role = 'work', rounds = '3'] =
  process.argv.slice(2)
const { rank } = detectLaunch(process.env)!
console.log(`rank ${rank} is process ${process.pid}`)
const forEver = () => new Promise(() => setInterval(() => {}, 1000))
if (role === 'absent' && rank === 1) await forEver()

// The same numbers on every rank.
const random = seededRandom(Number(seed))
const pick = (n: number) => Math.floor(random() * n)
/** Software GPUs compute on the CPU; on the fake driver each kernel would have to be compiled for it. */
const side = inner === 'cuda' ? 2000 : 60
const kernels = !inner.startsWith('fake-')

/** Each throws if the result is wrong, and returns values on which all ranks must agree. */
const works: Record<string, (group: DeviceGroup) => Promise<unknown>> = {
  async copies(group) {
    const ring = await openRing(group)
    const times = 1 + pick(20)
    await ring.run(times)
    await ring.expect(times)
    ring.destroy()
    return times
  },
  async transpose(group) {
    const [rows, columns] = [1 + pick(side), 1 + pick(side)]
    const input = Int32Array.from({ length: rows * columns }, (_, i) => i * 7)
    const output = new Int32Array(rows * columns)
    const { verified } = await transpose(group, { rows, columns, type: 'i32', input, output })
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++)
        require(output[column * rows + row] === input[row * columns + column], 'transpose', rows, columns)
    require(verified, 'transpose', rows, columns)
    return digest(output)
  },
  async reduce(group) {
    const elements = 1 + pick(side * side)
    const input = Int32Array.from({ length: elements }, (_, i) => (i % 1000) - 300)
    const { value, verified } = await reduce(group, { elements, type: 'i32', input })
    const expected = input.reduce((sum, x) => (sum + x) | 0, 0)
    require(verified && value === expected, `sum ${value} instead of ${expected}`, elements)
    return value
  },
  async matmul(group) {
    const [m, k, n] = [1 + pick(side / 4), 1 + pick(side / 4), 1 + pick(side / 4)]
    const streamed = pick(2) === 0 && { mode: 'streamed' as const, streamWidth: 32 }
    const output = new Float32Array(m * n)
    const { verified } = await matmul(group, { m, k, n, output, ...streamed })
    require(verified, 'matmul', m, k, n)
    return digest(output)
  },
  async ring(group) {
    const least = group.devices.length
    const [m, k, n] = [least + pick(side / 4), 1 + pick(side / 4), least + pick(side / 4)]
    const output = new Float32Array(m * n)
    const { verified } = await ringMatmul(group, { m, k, n, output })
    require(verified, 'ring', m, k, n)
    return digest(output)
  },
  async jacobi(group) {
    const [rows, columns] = [20 + pick(side), 20 + pick(side)]
    const decomposition = pick(2) === 0 ? '1d' : '2d'
    const output = new Float32Array(rows * columns)
    const iterations = 1 + pick(50)
    const { verified } = await jacobi(group, { rows, columns, iterations, decomposition, output })
    require(verified, `jacobi ${decomposition}`, rows, columns)
    return digest(output)
  },
}

try {
  const options: MpiOptions = {
    virtual: true,
    transport: transport as MpiOptions['transport'],
    libraries: mpiLibraries(),
  }
  const group = await openGroup({ backends: [mpi(await innerBackend(inner), options)], virtual: true })
  const session = await mpiSession(mpiLibraries())
  if (rank === 0) console.log(`transport ${JSON.stringify(group.transport)}`)
  if (role === 'away' && rank === 1) await forEver()
  if (role === 'endless') {
    const ring = await openRing(group)
    await ring.run(2)
    await ring.expect(2)
    console.log(`rank ${rank} is in the middle of a run`)
    await ring.run(1_000_000_000)
  } else if (role === 'exhaust') await exhaust(group)
  else
    for (let round = 0; round < Number(rounds); round++) {
      const names = kernels ? Object.keys(works) : ['copies']
      const name = names[pick(names.length)]!
      const result = await works[name]!(group)
      const said = await session.gather(`${name} ${result}`)
      require(said.length === 1, `${name}: the ranks have different results`)
    }
  const { leaks } = await group.destroy()
  require(leaks.length === 0, `${leaks.length} objects are left`)
  console.log(`rank ${rank}: all results are right`)
} catch (error) {
  if (!isGpuError(error)) throw error
  console.log(`rank ${rank} ends: ${error.code}: ${error.message}`)
  // All ranks get the refusal, and the job ends normally.
  if (error.code === 'unsupported') await (await mpiSession(mpiLibraries())).gather('all have said it')
  process.exit(3)
}

/** Passes values of each device round all devices. */
async function openRing(group: DeviceGroup) {
  const { devices, queue } = group
  const count = devices.length
  const length = 1 + pick(100_000)
  const allocate = () => Promise.all(devices.map((device) => device.allocate('u32', length)))
  const [values, next] = [await allocate(), await allocate()]
  const first = (i: number) => i * 1_000_003
  for (const [i, buffer] of values.entries())
    await queue.write(
      buffer,
      Uint32Array.from({ length }, (_, k) => first(i) + k),
    )
  const program = group.record((r) => {
    for (let i = 0; i < count; i++) r.copy(values[i]!, next[(i + 1) % count]!)
    for (let i = 0; i < count; i++) r.copy(next[i]!, values[i]!)
  })
  return {
    run: (times: number) => queue.run(program, times),
    async expect(times: number) {
      for (const [i, buffer] of values.entries()) {
        const start = first((((i - times) % count) + count) % count)
        const found = await queue.read(buffer)
        require(found.every((value, k) => value === start + k), `device ${i} after ${times} turns`, length)
      }
    },
    destroy() {
      program.destroy()
      for (const buffer of [...values, ...next]) buffer.destroy()
    },
  }
}

/**
 * Checks that every rank gets the error that rank 1's device is out of memory, and that the contents and
 * results of the devices stay right.
 */
async function exhaust(group: DeviceGroup): Promise<void> {
  const ring = await openRing(group)
  await ring.run(1)
  const device = group.devices.find((device) => device.rank === 1)!
  const held: DeviceBuffer[] = []
  let refusal = ''
  const most = Math.min(device.limits.maxBufferByteLength, 8 * 2 ** 30)
  for (let byteLength = most; byteLength >= 2 ** 20; )
    try {
      held.push(await device.allocate('u32', Math.floor(byteLength / 4), { zero: false }))
    } catch (error) {
      if (!isGpuError(error, 'out-of-memory')) throw error
      refusal = error.message
      byteLength /= 4
    }
  console.log(`rank ${rank} is refused memory: ${refusal}`)
  await ring.run(2)
  await ring.expect(3)
  for (const buffer of held) buffer.destroy()
  const again = await device.allocate('u32', held[0]!.length, { zero: false })
  again.destroy()
  ring.destroy()
}

function require(right: boolean, what: string, ...sizes: number[]): void {
  if (!right) throw new Error(`Wrong on rank ${rank}: ${what} (${sizes.join(' × ')}), seed ${seed}`)
}

function digest(elements: NodeJS.TypedArray): string {
  return createHash('sha256').update(elements).digest('hex')
}
