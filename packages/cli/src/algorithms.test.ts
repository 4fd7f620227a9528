import { spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from 'fast-png'
import { describe, expect, it } from 'vitest'
import { tandem, tandemJson, testBackend } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const common = {
  schema: 1,
  backend: testBackend,
  adapter: expect.any(String),
  software: expect.any(Boolean),
  verified: true,
  verification: expect.any(String),
  maxError: expect.any(Number),
  seconds: expect.any(Number),
  rate: expect.any(Number),
  unit: expect.stringMatching(/^(GB|GFLOP)\/s$/),
}

describe('transpose', () => {
  it.each(['overlapped', 'serial'])('has the layout of Ruetsch and Fatica, %s', async (schedule) => {
    const report = await tandemJson(`transpose --rows 768 --cols 1024 --devices 4 --schedule ${schedule}`)
    expect(report).toMatchObject({
      ...common,
      algorithm: 'transpose',
      devices: 4,
      schedule,
      shape: { rows: 768, columns: 1024 },
      slice: [1024, 192],
      tile: [256, 192],
      workgroup: [expect.any(Number), expect.any(Number)],
      grid: [8, 6],
      bytes: 2 * 4 * 768 * 1024,
    })
  })

  it.each([
    [1000, 777, 3],
    [5, 3, 4],
    [1, 1, 2],
    [0, 7, 2],
  ])('accepts %i × %i on %i devices', async (rows, cols, devices) => {
    const report = await tandemJson(`transpose --rows ${rows} --cols ${cols} --devices ${devices}`)
    expect(report).toMatchObject({ verified: true, devices, shape: { rows, columns: cols } })
  })
})

describe('reduce', () => {
  // The three middle kernels spend most of their time at barriers, which are slow on a software GPU.
  it.each([
    ['atomic', 4194304],
    ['interleaved-divergent', 262144],
    ['interleaved-conflicts', 262144],
    ['sequential', 262144],
    ['best', 4194304],
  ])('adds integers by kernel %s', async (kernel, elements) => {
    const report = await tandemJson(`reduce --elements ${elements} --type i32 --kernel ${kernel}`)
    expect(report).toMatchObject({ ...common, algorithm: 'reduce', kernel, bytes: 4 * elements, maxError: 0 })
    expect(report.valueBits).toBe(`0x${(report.value >>> 0).toString(16).padStart(8, '0')}`)
  })

  it('gives floats the same bits on any number of devices', async () => {
    const bits = new Set<string>()
    for (const devices of [1, 2, 3, 4, 8]) {
      const report = await tandemJson(`reduce --elements 1000003 --type f32 --devices ${devices}`)
      expect(report).toMatchObject({ verified: true, devices })
      bits.add(report.valueBits)
    }
    expect(bits.size).toBe(1)
  })

  it('rejects atomic floats, and says why', async () => {
    const { exit, stderr } = await tandem(
      `reduce --elements 10 --type f32 --kernel atomic --backend ${testBackend}`,
    )
    expect(exit).toBe(2)
    expect(stderr).toMatch(/atomic.*f32|f32.*atomic/i)
  })
})

describe('matmul', () => {
  it('multiplies ragged shapes, resident and streamed', async () => {
    const shape = 'matmul --m 300 --k 257 --n 129 --devices 3'
    expect(await tandemJson(shape)).toMatchObject({
      ...common,
      algorithm: 'matmul',
      devices: 3,
      mode: 'resident',
      shape: { m: 300, k: 257, n: 129 },
      flops: 2 * 300 * 257 * 129,
    })
    const streamed = await tandemJson(`${shape} --stream-width 64 --memory-limit 150000`)
    expect(streamed).toMatchObject({ verified: true, mode: 'streamed' })
    expect(streamed.stream.byteLength).toBeLessThanOrEqual(150000)
    expect(streamed.stream.width).toBeLessThanOrEqual(64)
  })

  it('uses the columns of B for the other sides if they are not given', async () => {
    for (const command of ['matmul', 'ring'])
      expect((await tandemJson(`${command} --n 24 --k 16 --devices 2`)).shape).toEqual({
        m: 24,
        n: 24,
        k: 16,
      })
  })

  it('multiplies f16, and predicts as for f32', async () => {
    const shape = 'matmul --type f16 --m 65 --k 70 --n 33'
    for (const resultType of ['f16', 'f32']) {
      const report = await tandemJson(`${shape} --result-type ${resultType} --devices 2`)
      expect(report).toMatchObject({
        ...common,
        algorithm: 'matmul',
        type: 'f16',
        resultType,
        mode: 'resident',
        devices: 2,
        slices: [33, 32],
        prediction: { seconds: [expect.any(Number), expect.any(Number)], chosen: 2 },
      })
    }
    const { exit, stdout } = await tandem(`${shape} --backend ${testBackend}`)
    expect(exit).toBe(0)
    expect(stdout).toMatch(/f16, result f16[\s\S]*reason .*redicted[\s\S]*reason +Products are formed /)
  })

  it('says how many bytes are needed if the limit is too small', async () => {
    const line = `matmul --m 300 --k 257 --n 129 --memory-limit 1000 --backend ${testBackend}`
    const { exit, stderr } = await tandem(line)
    expect(exit).toBe(2)
    expect(stderr).toMatch(/1000 bytes.*257.*2060 bytes/s)
  })

  it('rejects files whose shapes do not match', async () => {
    const folder = await temporaryFolder()
    for (const [name, shape] of [
      ['a', '(2, 3)'],
      ['b', '(4, 1)'],
    ]) {
      await writeFile(join(folder, `${name}.npy`), npyOfZeros(shape!, name === 'a' ? 6 : 4))
    }
    const { exit, stderr } = await tandem(`matmul --a ${folder}/a.npy --b ${folder}/b.npy`)
    expect(exit).toBe(2)
    expect(stderr).toMatch(/A \(.*a\.npy\) is 2 × 3 and B \(.*b\.npy\) is 4 × 1/)
  })
})

describe('jacobi', () => {
  it('gives the same bits in 2D on four devices as on one, and a picture', async () => {
    const folder = await temporaryFolder()
    const shape = 'jacobi --rows 257 --cols 129 --iterations 500'
    const report = await tandemJson(
      `${shape} --devices 4 --decomposition 2d --image ${folder}/out.png --output ${folder}/four.npy`,
    )
    expect(report).toMatchObject({
      ...common,
      algorithm: 'jacobi',
      devices: 4,
      iterations: 500,
      decomposition: '2d',
      residual: expect.any(Number),
    })
    await tandemJson(`${shape} --devices 1 --output ${folder}/one.npy`)
    expect(await readFile(join(folder, 'four.npy'))).toEqual(await readFile(join(folder, 'one.npy')))

    const picture = decode(await readFile(join(folder, 'out.png')))
    // Four pixels per cell, for 129 × 257 cells, and the colour bar.
    expect([picture.width, picture.height]).toEqual([4 * 129 + 286, 4 * 257 + 48])
    expect(new Set(picture.data).size).toBeGreaterThan(50)
  })

  it('says whether the tolerance is reached', async () => {
    const line = `jacobi --rows 9 --cols 9 --iterations 50 --backend ${testBackend}`
    expect((await tandem(`${line} --tolerance 1e-3`)).stdout).toMatch(
      /converged +at iteration 50, with 2\.17e-6/,
    )
    expect((await tandem(`${line} --tolerance 1e-9`)).stdout).toMatch(
      /converged +no: a cell still changes by 2\.17e-6 per sweep/,
    )
    expect((await tandem(line)).stdout).not.toContain('converged')
  })
})

describe('jacobi --scaling', () => {
  it('compares bands and blocks on every number of devices', async () => {
    const { figures, shape } = await tandemJson(
      'jacobi --scaling --rows 20 --cols 200 --iterations 4 --devices 3',
    )
    expect(shape).toEqual({ rows: 20, columns: 200 })
    expect(
      figures.map(({ devices, grid }: { devices: number; grid: number[] }) => [devices, ...grid]),
    ).toEqual([
      [1, 1, 1],
      [2, 2, 1],
      [2, 1, 2],
      [3, 3, 1],
      [3, 1, 3],
    ])
    const { exit, stdout } = await tandem(
      `jacobi --scaling --rows 20 --cols 200 --iterations 4 --devices 2 --backend ${testBackend} --virtual`,
    )
    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^ +2 {2}2d {5}1 × 2 \* /m)])
  })

  it('accepts no files', async () => {
    const { exit, stderr } = await tandem('jacobi --scaling --output u.npy')
    expect([exit, stderr]).toEqual([2, expect.stringContaining('--output is for a single run')])
  })
})

describe('ring', () => {
  it('multiplies on a ring, with the bits of matmul', async () => {
    const folder = await temporaryFolder()
    const shape = '--m 21 --k 13 --n 18 --devices 3'
    const report = await tandemJson(`ring ${shape} --scheme streamed --pieces 2 --output ${folder}/ring.npy`)
    expect(report).toMatchObject({ ...common, algorithm: 'ring', scheme: 'streamed', slices: [7, 7, 7] })
    await tandemJson(`matmul ${shape} --mode resident --output ${folder}/matmul.npy`)
    expect(
      (await readFile(join(folder, 'ring.npy'))).equals(await readFile(join(folder, 'matmul.npy'))),
    ).toBe(true)
  })

  it('compares every scheme on 1, 2 and 4 devices, and marks the published curves', async () => {
    const { rings, measuredInSource } = await tandemJson('ring --n 24 --devices 4 --compare')
    expect(measuredInSource).toEqual(['none', 'native', 'sequence'])
    expect(rings.map(({ nodes }: { nodes: number }) => nodes)).toEqual([1, 2, 4])
    for (const { schemes, step } of rings) {
      expect(step).toEqual({
        message: expect.any(Number),
        upload: expect.any(Number),
        product: expect.any(Number),
      })
      expect(schemes).toHaveLength(7)
      for (const { verified } of schemes) expect(verified).toBe(true)
    }
    const { stdout } = await tandem(`ring --n 24 --devices 2 --compare --backend ${testBackend} --virtual`)
    expect(stdout).toMatch(/^ +2 {2}sequence \* /m)
    expect(stdout).toMatch(/^ +2 {2}direct /m)
  })

  it('accepts no files with --compare', async () => {
    const { exit, stderr } = await tandem(
      `ring --compare --output c.npy --devices 2 --backend ${testBackend}`,
    )
    expect([exit, stderr]).toEqual([2, expect.stringContaining('--output is for a single run')])
  })
})

describe('outputs', () => {
  it('a trace opens as Chrome events, one process with a thread per device', async () => {
    const folder = await temporaryFolder()
    await tandemJson(`transpose --rows 64 --cols 64 --devices 2 --trace ${folder}/t.json`)
    const { traceEvents } = JSON.parse(await readFile(join(folder, 't.json'), 'utf8'))
    expect(traceEvents[0]).toMatchObject({ ph: 'M', name: 'process_name', args: { name: 'transpose' } })
    const spans = traceEvents.filter(({ ph }: { ph: string }) => ph === 'X')
    for (const span of spans) {
      expect(span).toMatchObject({
        name: expect.any(String),
        ts: expect.any(Number),
        dur: expect.any(Number),
      })
      expect(span.dur).toBeGreaterThanOrEqual(0)
    }
    expect(new Set(spans.map(({ args }: { args: { device: number } }) => args.device))).toEqual(
      new Set([0, 1]),
    )
  })

  it('are not written if the input has a wrong type or is truncated', async () => {
    const folder = await temporaryFolder()
    const whole = npyOfZeros('(8, 8)', 64)
    await writeFile(join(folder, 'cut.npy'), whole.subarray(0, whole.length - 1))
    await writeFile(
      join(folder, 'double.npy'),
      Buffer.from(whole).fill(Buffer.from('<f8'), whole.indexOf('<f4'), whole.indexOf('<f4') + 3),
    )
    for (const [name, reason] of [
      ['cut', /cut\.npy is truncated/],
      ['double', /float64.*astype\('float32'\).*--cast/],
    ] as const) {
      const { exit, stderr } = await tandem(
        `transpose --input ${folder}/${name}.npy --output ${folder}/out.npy`,
      )
      expect([exit, stderr]).toEqual([2, expect.stringMatching(reason)])
    }
    expect((await readdir(folder)).sort()).toEqual(['cut.npy', 'double.npy'])
  })
})

describe('no usable device', () => {
  const hasNvidia = spawnSync('nvidia-smi', ['-L']).status === 0
  it.skipIf(hasNvidia)(
    'exits with 3 and says what is missing (skipped where there is an NVIDIA GPU)',
    async () => {
      for (const line of ['transpose', 'matmul --m 4', 'devices', 'doctor', 'demo', 'select', 'topology']) {
        const { exit, stdout, stderr } = await tandem(`${line} --backend cuda`)
        expect(exit, line).toBe(3)
        expect(stdout + stderr).toMatch(/NVIDIA|CUDA|built without its addon/)
      }
    },
  )
})

function npyOfZeros(shape: string, elements: number): Buffer {
  const header = Buffer.from(`{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }\n`)
  const start = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0])
  return Buffer.concat([start, header, Buffer.alloc(elements * 4)])
}
