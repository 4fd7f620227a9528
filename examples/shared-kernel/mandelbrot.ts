import type { DeviceGroup } from '@tandem-gpu/core'
import { mandelbrot } from './mandelbrot.wgsl.ts'

export interface Part {
  readonly rows: number
  readonly columns: number
  readonly center: readonly [x: number, y: number]
  /** Of the part of the plane that is shown. */
  readonly width: number
}

/** The same function in the server and in the page, on whatever device the group has. */
export async function draw(group: DeviceGroup, { rows, columns, center, width }: Part): Promise<Uint32Array> {
  const kernel = await group.compile(mandelbrot)
  const counts = await group.devices[0]!.allocate('u32', [rows, columns])
  const program = group.record((r) =>
    r.dispatch(kernel, {
      workgroups: [Math.ceil(columns / 8), Math.ceil(rows / 8)],
      args: { counts, center, width },
    }),
  )
  try {
    await group.queue.run(program)
    return await group.queue.read(counts)
  } finally {
    for (const resource of [program, counts, kernel]) resource.destroy()
  }
}
