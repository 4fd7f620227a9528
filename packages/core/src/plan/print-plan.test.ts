import { expect, test } from 'vitest'
import { openGroup } from '../group/group.ts'
import { scale } from '../testing/conformance/kernels.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { printPlan } from './print-plan.ts'

test('a plan prints as stable text, one line per command', async () => {
  const group = await openGroup({ backends: [referenceBackend()], devices: 2 })
  const kernel = await group.compile({ wgsl: scale, label: 'scale' })
  const a = await group.devices[0]!.allocate('f32', [4, 6], { label: 'a' })
  const b = await group.devices[1]!.allocate('f32', [4, 6], { label: 'b' })
  const host = group.allocateHost('f32', 24, { label: 'staging' })
  const program = (schedule: 'overlapped' | 'serial') =>
    group.record(
      (r) => {
        r.upload(host.reshape(4, 6), a)
        r.copy(a.block(0, 3, 4, 3), b.block(0, 0, 4, 3))
        r.fill(b.block(0, 3, 4, 3), 1)
        r.dispatch(kernel, {
          workgroups: 1,
          label: 'halve',
          args: { x: b, y: r.scratch(1, 'f32', 24).reshape(4, 6), factor: 0.5, addend: 0 },
        })
        r.download(b.slice(0, 6), host.slice(0, 6))
      },
      { schedule, label: 'example' },
    )
  const overlapped = program('overlapped')
  const serial = program('serial')
  expect(printPlan(overlapped.plan)).toMatchInlineSnapshot(`
    "plan "example", overlapped: 5 commands, 4 buffers, 1 kernel, 256 bytes of uniforms
    b0 host 96 "staging"
    b1 device 0 96 "a"
    b2 device 1 96 "b"
    b3 device 1 96 "scratch 0"
    0 d0 upload "upload staging to a" b0[0..96) -> b1[0..96) after previous 4
    1 d1 copy "copy a to b" b1[12..96 12/24 x4) -> b2[0..84 12/24 x4) after 0 after previous 3
    2 d1 fill "fill b" b2[12..96 12/24 x4) = 0x3f800000 after previous 3 4
    3 d1 dispatch "halve" (scale) 1x1x1 x:r b2[0..96) y:w b3[0..96) after 1 2
    4 d1 download "download b to staging" b2[0..24) -> b0[0..24) after 1 2"
  `)
  expect(
    printPlan(serial.plan)
      .split('\n')
      .map((line) => line.match(/ after .*/)?.[0] ?? '')
      .filter(Boolean),
  ).toEqual([' after previous 4', ' after 0', ' after 1', ' after 2', ' after 3'])
  for (const resource of [overlapped, serial, kernel, a, b, host]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})
