import { parseArgs } from 'node:util'
import { type Backend, type DeviceGroup, openGroup } from '@tandem-gpu/core'

/**
 * Runs one bench script: opens a group as the command line says, and prints what `body` returns as JSON. Not
 * part of the published package.
 *
 * `node x.bench.ts [--backend webgpu|cuda] [--devices 4] [--samples 10] [--repetitions 10] [--sizes
 * 1024,2048]`
 */
export async function bench(
  defaults: { sizes: readonly number[] },
  body: (group: DeviceGroup, options: BenchOptions) => Promise<unknown>,
): Promise<void> {
  const { values } = parseArgs({
    options: {
      backend: { type: 'string', default: 'webgpu' },
      devices: { type: 'string', default: '4' },
      samples: { type: 'string', default: '10' },
      repetitions: { type: 'string', default: '10' },
      sizes: { type: 'string' },
    },
  })
  const group = await openGroup({
    backends: [await openBackend(values.backend)],
    devices: Number(values.devices),
    virtual: true,
  })
  try {
    const results = await body(group, {
      sizes: values.sizes?.split(',').map(Number) ?? defaults.sizes,
      samples: Number(values.samples),
      repetitions: Number(values.repetitions),
      warmup: 2,
    })
    console.log(JSON.stringify(results, null, 2))
  } finally {
    await group.destroy()
  }
}

export interface BenchOptions {
  readonly sizes: readonly number[]
  readonly samples: number
  readonly repetitions: number
  readonly warmup: number
}

async function openBackend(name: string): Promise<Backend> {
  if (name === 'cuda') {
    const { cuda } = await import('@tandem-gpu/backend-cuda')
    return cuda()
  }
  const { webgpu } = await import('@tandem-gpu/backend-webgpu')
  return webgpu()
}
