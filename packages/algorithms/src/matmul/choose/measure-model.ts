import { type Device, type DeviceGroup, OwnedResources, type Program } from '@tandem-gpu/core'
import { characterOf } from '../../device-character.ts'
import { measure } from '../../measure.ts'
import { chooseHalfBlocking, compileHalf } from '../half/half-kernels.ts'
import { allocateHalfPart, recordHalf } from '../half/record-half.ts'
import { chooseBlocking, compileMatmul } from '../single/matmul-kernels.ts'
import { recordMatmul } from '../single/record-matmul.ts'
import { assumedMatmulModel, devicesByUse, type MatmulModel } from './predict-matmul.ts'

/**
 * Measures the model; on hardware this takes well under a second. Times one square product of `type`, one
 * upload to one device and to all at once, one copy between two devices, and a chain of small commands.
 */
export async function measureMatmulModel(
  group: DeviceGroup,
  type: 'f32' | 'f16' = 'f32',
): Promise<MatmulModel> {
  const { side: size, copyLength } = characterOf(group).probe
  const devices = devicesByUse(group)
  const first = devices[0]!
  const distinct = devices.filter(
    (device, index) => devices.findIndex((d) => d.info.id === device.info.id) === index,
  )
  const assumed = assumedMatmulModel(group)
  const owned = new OwnedResources()
  const allocate = async (device: Device, length: number) =>
    owned.keep(await device.allocate('f32', length, { label: 'probe' }))
  const time = async (program: Program, repetitions = 1) => {
    owned.keep(program)
    return (await measure(group, program, { warmup: 1, samples: 3, repetitions })).seconds
  }
  try {
    const product = await time(
      type === 'f16'
        ? await halfProbe(group, first, size, owned)
        : await singleProbe(group, first, size, owned),
    )
    const host = owned.keep(group.allocateHost('f32', copyLength, { label: 'probe' }))
    const targets = await Promise.all(distinct.map((device) => allocate(device, copyLength)))
    const upload = await time(group.record((r) => r.upload(host, targets[0]!), { label: 'probe upload' }))
    const uploadAll = await time(
      group.record(
        (r) => {
          for (const target of targets) r.upload(host, target)
        },
        { label: 'probe uploads' },
      ),
    )
    const peer = targets[1] ?? (await allocate(first, copyLength))
    const copy = await time(group.record((r) => r.copy(targets[0]!, peer), { label: 'probe copy' }))
    const small = await allocate(first, 64)
    const chain = 32
    const fills = await time(
      group.record(
        (r) => {
          for (let index = 0; index < chain; index++) r.fill(small, index)
        },
        { label: 'probe commands' },
      ),
    )
    const bytes = copyLength * 4
    const rate = (amount: number, seconds: number, fallback: number) =>
      seconds > 0 ? amount / seconds : fallback
    return {
      source: 'measured',
      flopsPerSecond: rate(2 * size ** 3, product, assumed.flopsPerSecond),
      hostBytesPerSecond: rate(bytes, upload, assumed.hostBytesPerSecond),
      hostTotalBytesPerSecond: rate(bytes * distinct.length, uploadAll, assumed.hostTotalBytesPerSecond),
      peerBytesPerSecond: rate(bytes, copy, assumed.peerBytesPerSecond),
      commandSeconds: fills / chain,
    }
  } finally {
    owned.destroy()
  }
}

/** A square product of f32. */
async function singleProbe(
  group: DeviceGroup,
  device: Device,
  size: number,
  owned: OwnedResources,
): Promise<Program> {
  const shape = { m: size, n: size, k: size }
  const kernels = owned.keep(await compileMatmul(group, 'f32', chooseBlocking(device, shape)))
  const matrix = async () => owned.keep(await device.allocate('f32', [size, size], { label: 'probe' }))
  const [a, b, c] = [await matrix(), await matrix(), await matrix()]
  return group.record((r) => recordMatmul(r, kernels, a, b, c), { label: 'probe product' })
}

/** A square product of f16 with sums in f32. */
async function halfProbe(
  group: DeviceGroup,
  device: Device,
  size: number,
  owned: OwnedResources,
): Promise<Program> {
  const shape = { m: size, n: size, k: size }
  const blocking = chooseHalfBlocking(shape, size, [device])
  const kernels = owned.keep(await compileHalf(group, blocking, 'f32'))
  const part = await allocateHalfPart(owned, device, { row: 0, rows: size }, shape, blocking, 'f32')
  return group.record((r) => recordHalf(r, kernels, part, shape), { label: 'probe product' })
}
