import { lower, parseWgsl, reflect } from '@tandem-gpu/wgsl'
import { fillBuffer, type KernelBuffer, parseKernelTest } from '@tandem-gpu/wgsl/testing'
import type { Allocation } from '../backend/handles.ts'
import type { Bounds } from '../backend/kernel-source.ts'
import type { OpenedRuntime } from '../backend/runtime.ts'
import type { PlanBinding, PlanBuffer } from '../plan/plan.ts'

/** What a writable buffer of a test kernel holds after the kernel ran. */
export interface KernelTestResult {
  readonly buffer: KernelBuffer
  readonly bytes: Uint8Array<ArrayBuffer>
}

const uniformAlignment = 256

/**
 * Runs a WGSL kernel that says in its head how to run it (`@tandem-gpu/wgsl/testing`, `parseKernelTest`) on a
 * runtime's first device, through nothing but the backend contract. Returns the writable buffers by name;
 * compare them with `compareBuffers`.
 */
export async function runKernelTest(
  runtime: OpenedRuntime,
  label: string,
  wgsl: string,
  bounds: Bounds = 'clamp',
): Promise<Map<string, KernelTestResult>> {
  const test = parseKernelTest(wgsl)
  const module = lower(parseWgsl(wgsl, { label }), {
    ...(test.entryPoint === undefined ? {} : { entryPoint: test.entryPoint }),
    constants: test.constants,
  })
  const reflection = reflect(module)
  const kernel = await runtime.compile({
    label,
    wgsl,
    entryPoint: reflection.entryPoint,
    constants: test.constants,
    bounds,
    module,
    reflection,
  })
  const allocations: Allocation[] = []
  try {
    const buffers: PlanBuffer[] = []
    const bindings: PlanBinding[] = []
    const outputs: { buffer: KernelBuffer; allocation: Allocation; byteLength: number }[] = []
    const uniforms: Uint8Array[] = []
    for (const { name, group, binding, space, access, reads, writes } of reflection.bindings) {
      const buffer = test.buffers.find((b) => b.name === name)
      if (buffer === undefined) throw new SyntaxError(`${label} has no buffer line for ${name}`)
      const bytes = fillBuffer(buffer)
      const { byteLength } = bytes
      if (space === 'uniform') {
        const byteOffset = uniforms.length * uniformAlignment
        bindings.push({ kind: 'uniform', group, binding, name, byteOffset, byteLength })
        for (let at = 0; at < byteLength; at += uniformAlignment)
          uniforms.push(bytes.subarray(at, at + uniformAlignment))
        continue
      }
      const allocation = await runtime.allocate(0, byteLength, { label: name, zero: false })
      allocations.push(allocation)
      const region = { byteOffset: 0, rowByteLength: byteLength, rows: 1, rowByteStride: byteLength }
      await runtime.write({ allocation, ...region }, bytes)
      const view = { buffer: buffers.length, ...region }
      bindings.push({
        kind: 'storage',
        group,
        binding,
        name,
        access,
        buffer: buffers.length,
        byteOffset: 0,
        byteLength,
        view,
        reads,
        writes,
      })
      buffers.push({ kind: 'device', label: name, device: 0, byteLength, allocation })
      if (access === 'read_write') outputs.push({ buffer, allocation, byteLength })
    }
    const uniformBlock = new Uint8Array(uniforms.length * uniformAlignment)
    for (const [i, part] of uniforms.entries()) uniformBlock.set(part, i * uniformAlignment)
    const executable = await runtime.instantiate({
      label,
      schedule: 'overlapped',
      buffers,
      kernels: [kernel],
      commands: [
        {
          kind: 'dispatch',
          index: 0,
          label,
          device: 0,
          after: [],
          afterPrevious: [],
          kernel: 0,
          workgroups: test.workgroups,
          bindings,
        },
      ],
      uniformBlock,
    })
    try {
      await runtime.run(executable, { times: 1 })
    } finally {
      runtime.release(executable)
    }
    const results = new Map<string, KernelTestResult>()
    for (const { buffer, allocation, byteLength } of outputs) {
      const bytes = new Uint8Array(byteLength)
      const region = { byteOffset: 0, rowByteLength: byteLength, rows: 1, rowByteStride: byteLength }
      await runtime.read({ allocation, ...region }, bytes)
      results.set(buffer.name, { buffer, bytes })
    }
    return results
  } finally {
    for (const allocation of allocations) runtime.free(allocation)
    runtime.releaseKernel(kernel)
  }
}
