import { expect, it, onTestFinished } from 'vitest'
import { openGroup } from '../group/group.ts'
import { describeBackend } from './describe-backend.ts'
import { referenceBackend } from './reference-backend.ts'

describeBackend('reference', () => referenceBackend({ seed: 1 }))
describeBackend(
  'reference with denied peers, 3 devices',
  () => referenceBackend({ seed: 2, peerAccess: false }),
  {
    devices: 3,
  },
)

it.each([
  {
    where: 'before the view',
    index: 'x_base - 1',
    debug: false,
    refused: /reads x\[31\], .* outside the declared view/,
  },
  { where: 'beyond its end', index: 'x_base + 9', debug: false, refused: undefined },
  {
    where: 'before the view',
    index: 'x_base - 1',
    debug: true,
    refused: /reads x\[31\], .* outside the declared view/,
  },
  {
    where: 'beyond its end',
    index: 'x_base + 9',
    debug: true,
    refused: /reaches x\[41\], but x has 40 elements/,
  },
])('an access $where, with debug $debug', async ({ index, debug, refused }) => {
  const group = await openGroup({ backends: [referenceBackend()], debug })
  onTestFinished(async () => void (await group.destroy()))
  const kernel = await group.compile({
    wgsl: `
      struct Params { x_base: u32 }
      @group(0) @binding(0) var<storage, read> x: array<u32>;
      @group(0) @binding(1) var<uniform> params: Params;
      @group(0) @binding(2) var<storage, read_write> y: array<u32>;
      @compute @workgroup_size(1) fn main() { y[0] = x[params.${index}]; }`,
  })
  const [x, y] = await Promise.all([64, 1].map((length) => group.devices[0]!.allocate('u32', length)))
  await group.queue.write(
    x!,
    new Uint32Array(64).map((_, i) => i),
  )
  const program = group.record((r) =>
    r.dispatch(kernel, { workgroups: 1, args: { x: x!.slice(32, 8), y: y! } }),
  )
  if (refused !== undefined) return expect(group.queue.run(program)).rejects.toThrow(refused)
  await group.queue.run(program)
  // Clamped to the last element of the view, which is the last one of the binding.
  expect(await group.queue.read(y!)).toEqual(Uint32Array.of(39))
})
