import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { onnxModel } from './onnx-model.ts'

it('the program with an ONNX model in docs/guides/webgpu-libraries.md runs as it stands there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-onnx-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const w = Float32Array.of(1, -1, 2, -2, 3, -3, 4, -4)
  const model = onnxModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['product'] },
      { op: 'Relu', inputs: ['product'], outputs: ['y'] },
    ],
    inputs: { x: { dims: [1, 4] } },
    outputs: { y: { dims: [1, 2] } },
    constants: { w: { dims: [4, 2], data: w } },
  })
  await writeFile(join(folder, 'model.onnx'), model)
  const program = fileURLToPath(new URL('guide/onnx-program.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder })
  expect(stdout).toBe('1 × 2 30,0\n')
})
