// Every rank: runs of two groups, which one of the ranks would begin in the other order if it could, on GPUs
// whose graphs run one after another.
//   FAKE_CUDA_ONE_QUEUE=1 mpirun -n 2 node turns.ts INNER_BACKEND TRANSPORT
import { type Backend, openGroup } from '@tandem-gpu/core'
import type { LinkedRuntime, Runtime } from '@tandem-gpu/core/backend'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'
import { valueRing } from '../value-ring.ts'

const [inner = 'fake-gpus', transport = 'ipc'] = process.argv.slice(2)
const { rank } = await mpiSession()
const linked: LinkedRuntime[] = []

/** The backend, whose linked runtimes are collected. */
function collected(backend: Backend<Runtime>): Backend<Runtime> {
  const links = backend.links?.map((link) => ({
    ...link,
    async open(...args: Parameters<typeof link.open>) {
      const runtime = await (link.open as (...args: unknown[]) => Promise<LinkedRuntime>)(...args)
      linked.push(runtime)
      return runtime
    },
  }))
  return { ...backend, adapters: () => backend.adapters(), links } as unknown as Backend<Runtime>
}

const options: MpiOptions = { transport: transport as MpiOptions['transport'], libraries: mpiLibraries() }
const backend = mpi(collected(await innerBackend(inner)), options)
const groups = [await openGroup({ backends: [backend] }), await openGroup({ backends: [backend] })]
const rings = [await valueRing(groups[0]!, 1000), await valueRing(groups[1]!, 2000)]
if (linked.length !== 2) throw new Error(`${linked.length} linked runtimes`)

if (rank === 1) {
  const [first, second] = linked as [LinkedRuntime, LinkedRuntime]
  let begun = () => {}
  const otherRuns = new Promise<void>((resolve) => {
    begun = resolve
  })
  const [connect, run] = [first.connect.bind(first), second.run.bind(second)]
  // The first group's run begins when the second group's has begun, or late.
  first.connect = async (...args) => {
    const takesPart = await connect(...args)
    await Promise.race([otherRuns, new Promise((resolve) => setTimeout(resolve, 1000))])
    return takesPart
  }
  second.run = (...args) => {
    const result = run(...args)
    setTimeout(begun, 50)
    return result
  }
}
await Promise.all(groups.map((group, i) => group.queue.run(rings[i]!.program, 3)))
// Without JavaScript.
for (let turn = 0; turn < 20; turn++)
  await Promise.all(groups.map((group, i) => group.queue.run(rings[i]!.program, 3)))
for (const ring of rings) await ring.expectTurns(63)
for (const { owned } of rings) for (const one of owned) one.destroy()
for (const group of groups) {
  const { leaks } = await group.destroy()
  if (leaks.length > 0) throw new Error(leaks.join())
}
if (rank === 0) console.log('runs of two groups take turns')
