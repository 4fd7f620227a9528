/*
 * The product of product-errors.py: reads lines "FOLDER m n k" from standard input, multiplies the f32
 * matrices FOLDER/a and FOLDER/b on one GPU as `split`, as `ieee`, and as `ieee` with matrices that stream,
 * writes FOLDER/split, FOLDER/ieee and FOLDER/streamed, and answers each line with "done".
 */
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { matmul } from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'

const group = await openGroup({ backends: [cuda()], devices: 1 })
for await (const line of createInterface({ input: process.stdin })) {
  const [folder, ...sizes] = line.split(' ')
  const [m, n, k] = sizes.map(Number) as [number, number, number]
  const a = load(`${folder}/a`, m * k)
  const b = load(`${folder}/b`, k * n)
  for (const [name, options] of Object.entries({
    split: { precision: 'split' },
    ieee: { precision: 'ieee' },
    streamed: { precision: 'ieee', streamWidth: 512 },
  } as const)) {
    const output = new Float32Array(m * n)
    await matmul(group, { m, n, k, a, b, output, ...options, verify: false, warmup: 0 })
    writeFileSync(`${folder}/${name}`, output)
  }
  process.stdout.write('done\n')
}
await group.destroy()

/** In pieces, since one read returns at most 2 GiB. */
function load(path: string, length: number): Float32Array<ArrayBuffer> {
  const values = new Float32Array(length)
  const bytes = new Uint8Array(values.buffer)
  const file = openSync(path, 'r')
  for (let at = 0; at < bytes.length; )
    at += readSync(file, bytes, at, Math.min(2 ** 28, bytes.length - at), at)
  closeSync(file)
  return values
}
