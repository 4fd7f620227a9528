import type { CompileOptions, Device, DeviceGroup } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { chooseBlocking, compileMatmul, matmulCandidates } from './matmul-kernels.ts'

/** A hardware device, with the fields that the choice of blocks reads. */
function deviceWith(maxWorkgroupInvocations: number, maxWorkgroupMemoryByteLength: number): Device {
  return {
    info: { software: false },
    limits: { maxWorkgroupInvocations, maxWorkgroupMemoryByteLength },
  } as Device
}

const large = deviceWith(1024, 232_448)
const portable = deviceWith(256, 16_384)
const sizes = [1, 100, 512, 1024, 3000, 8192, 16384]
const shapes = sizes.flatMap((m) => sizes.flatMap((n) => sizes.map((k) => ({ m, n, k }))))

it('cuts K into the same parts on every device and for every candidate', () => {
  for (const shape of shapes) {
    const all = [large, portable].flatMap((device) => [
      ...matmulCandidates(device, shape),
      ...matmulCandidates(device, shape, Math.ceil(shape.m / 4)),
    ])
    expect(new Set(all.map(({ parts }) => parts)).size).toBe(1)
  }
  // The split that cuBLAS uses on an H200.
  expect(chooseBlocking(large, { m: 1024, n: 1024, k: 16_384 }).parts).toBe(4)
  expect(chooseBlocking(large, { m: 8192, n: 8192, k: 16_384 }).parts).toBe(1)
})

it('offers tiles that fit the device, each once, and the choice first', () => {
  for (const shape of shapes) {
    const candidates = matmulCandidates(portable, shape)
    expect(chooseBlocking(portable, shape)).toEqual(candidates[0])
    expect(new Set(candidates.map((c) => `${c.body} ${c.tileRows} ${c.tileColumns}`)).size).toBe(
      candidates.length,
    )
    // Two tiles of A and two of B, eight deep in k.
    for (const { tileRows, tileColumns } of candidates)
      expect((tileRows + tileColumns) * 8 * 2 * 4).toBeLessThanOrEqual(16_384)
  }
})

it('uses large tiles for large products, small tiles for small ones, and no workgroup memory if there is too little', () => {
  expect(chooseBlocking(large, { m: 8192, n: 8192, k: 8192 }, 8192, { transposed: false })).toEqual({
    body: 'tiled',
    tileRows: 256,
    tileColumns: 128,
    parts: 1,
  })
  expect(chooseBlocking(large, { m: 64, n: 8192, k: 8192 })).toMatchObject({ tileRows: 64, parts: 8 })
  expect(chooseBlocking(large, { m: 100, n: 100, k: 100 })).toMatchObject({ tileRows: 64, tileColumns: 64 })
  expect(matmulCandidates(deviceWith(32, 16_384), { m: 512, n: 512, k: 512 })).toEqual([
    { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 },
  ])
})

it('transposes A first if a device multiplies many rows by many columns and has the memory', () => {
  const transposed = { body: 'transposed', tileRows: 128, tileColumns: 128, parts: 1 }
  for (const size of [4096, 8192, 16384]) {
    const shape = { m: size, n: size, k: size }
    for (const device of [large, portable]) expect(chooseBlocking(device, shape)).toEqual(transposed)
    expect(matmulCandidates(large, shape).length).toBe(4)
    expect(matmulCandidates(large, shape)[1]).toMatchObject({ body: 'tiled' })
    expect(matmulCandidates(large, shape, size, { transposed: false })).not.toContainEqual(transposed)
  }
  for (const shape of [...shapes, { m: 1 << 20, n: 1000, k: 8192 }])
    for (const rows of [shape.m, Math.ceil(shape.m / 8)])
      for (const { body } of matmulCandidates(large, shape, rows))
        if (Math.min(rows, shape.n) < 128 || shape.k < 512) expect(body).toBe('tiled')
  const software = { info: { software: true }, limits: large.limits } as Device
  expect(matmulCandidates(software, { m: 8192, n: 8192, k: 8192 })).toEqual([
    { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 },
  ])
})

it('chooses the tile by the columns that one product computes, and the parts by the shape', () => {
  const shape = { m: 16_384, n: 16_384, k: 16_384 }
  const [rows, localColumns] = [256, 256]
  expect(chooseBlocking(large, shape, rows, { transposed: false })).toMatchObject({ tileRows: 256 })
  const blocking = chooseBlocking(large, shape, rows, { transposed: false, localColumns })
  expect(blocking).toEqual({ body: 'tiled', tileRows: 64, tileColumns: 64, parts: 1 })
  for (const columns of [1, 100, 4096])
    for (const candidate of matmulCandidates(large, { m: 512, n: 8192, k: 8192 }, 64, {
      localColumns: columns,
    }))
      expect(candidate.parts).toBe(chooseBlocking(large, { m: 512, n: 8192, k: 8192 }).parts)
})

it('compiles nothing for a tile that does not exist', async () => {
  const compiled: (string | undefined)[] = []
  const group = {
    software: false,
    devices: [large],
    queue: {},
    async compile({ label }: CompileOptions) {
      compiled.push(label)
      return { destroy() {} }
    },
  } as unknown as DeviceGroup
  const tile = { body: 'transposed', tileColumns: 128, parts: 1 } as const
  await expect(compileMatmul(group, 'f32', { ...tile, tileRows: 99 })).rejects.toThrow(
    'no transposed tile of 99',
  )
  expect(compiled).toEqual([])
  ;(await compileMatmul(group, 'f32', { ...tile, tileRows: 128 })).destroy()
  expect(compiled.length).toBe(3)
})
