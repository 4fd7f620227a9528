import { splitRows } from '@tandem-gpu/algorithms'
import { type DeviceBuffer, type DeviceGroup, OwnedResources, type RunProgress } from '@tandem-gpu/core'
import { advance } from './bodies.wgsl.ts'

export interface SimulateOptions {
  /** Four numbers for each body: x, y, z and its mass. */
  readonly bodies: Float32Array
  readonly steps: number
  /** Time of a step. */
  readonly step: number
  readonly onProgress?: ((progress: RunProgress) => void) | undefined
  /** Ends the simulation between two steps; the promise rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined
}

/** What one device has: where all bodies are, and its own ones, which begin at `row`. */
interface Share {
  readonly row: number
  readonly rows: number
  readonly all: DeviceBuffer<'f32'>
  readonly moved: DeviceBuffer<'f32'>
  readonly velocity: DeviceBuffer<'f32'>
}

/**
 * Simulates gravity between all bodies, which start at rest; each device moves its share. Returns the bodies
 * after the last step.
 */
export async function simulate(group: DeviceGroup, options: SimulateOptions): Promise<Float32Array> {
  const { bodies, steps, step, onProgress, signal } = options
  const count = bodies.length / 4
  const owned = new OwnedResources()
  try {
    const kernel = owned.keep(await group.compile(advance))
    const shares: Share[] = []
    for (const [ordinal, { row, rows }] of splitRows(count, group.devices.length).entries()) {
      if (rows === 0) continue
      const device = group.devices[ordinal]!
      const make = async (length: number) => owned.keep(await device.allocate('f32', 4 * length))
      const share = { row, rows, all: await make(count), moved: await make(rows), velocity: await make(rows) }
      await group.queue.write(share.all, bodies)
      shares.push(share)
    }
    const program = owned.keep(
      group.record((r) => {
        for (const { row, rows, all, moved, velocity } of shares)
          r.dispatch(kernel, {
            workgroups: Math.ceil(rows / 64),
            args: { own: all.slice(4 * row, 4 * rows), all, moved, velocity, step },
          })
        for (const { row, rows, moved } of shares)
          for (const { all } of shares) r.copy(moved, all.slice(4 * row, 4 * rows))
      }),
    )
    // One step is one repetition: the devices go on by themselves while JavaScript shows how far they are.
    await group.queue.run(program, steps, { onProgress, signal })
    const [first] = shares
    return first === undefined ? new Float32Array() : await group.queue.read(first.all)
  } finally {
    owned.destroy()
  }
}
