import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { compileReference } from '../reference/index.ts'
import { emitCuda } from './emit-cuda.ts'
import { hasProgram } from './testing/kernel-cases.ts'
import { parsePtx, runPtx } from './testing/ptx.ts'

it.skipIf(!hasProgram('nvcc')).each([
  ['leave what lies behind them as it is', 'structure-part-copies'],
  ['have all components', 'structure-components'],
])("copies of structures %s, in nvcc's PTX (needs nvcc)", { timeout: 600_000 }, (_, name) => {
  const file = new URL(`../../testdata/accepted/${name}.wgsl`, import.meta.url)
  const source = readFileSync(file, 'utf8')
  const module = lower(parseWgsl(source))
  const { source: text, entryName } = emitCuda(module, { bounds: 'clamp', lineDirectives: false })
  const folder = mkdtempSync(join(tmpdir(), 'tandem-structures-'))
  try {
    writeFileSync(join(folder, 'copies.cu'), text)
    execFileSync('nvcc', ['-std=c++17', '-arch=sm_90', '-w', '-ptx', 'copies.cu'], { cwd: folder })
    const ptx = parsePtx(readFileSync(join(folder, 'copies.ptx'), 'utf8')).get(entryName)!
    // `out`, and after it the 16 bytes of `stored`, with the numbers of bytes that are bound.
    const values = [0n, 64n, 64n, 16n]
    const parameters = new Map(values.map((value, i) => [`${entryName}_param_${i}`, value]))
    const words = Uint32Array.from({ length: 20 }, () => 20)
    const expected = words.slice()
    runPtx(ptx, { parameters, memory: new DataView(words.buffer), thread: 0 }, 1000)
    const bindings = new Map([
      ['0.0', new Uint8Array(expected.buffer, 0, 64)],
      ['0.1', new Uint8Array(expected.buffer, 64)],
    ])
    compileReference(module).run({ workgroups: [1, 1, 1], bindings })
    expect([...words]).toEqual([...expected])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
