import { KnownValues } from '../known-values.ts'
import { kernelsOf, type PtxKernel } from '../ptx-instructions.ts'

/** PTX with one kernel. */
export function onlyKernel(ptx: Uint8Array | string): PtxKernel {
  const [kernel] = kernelsOf(typeof ptx === 'string' ? ptx : new TextDecoder().decode(ptx))
  return kernel!
}

/** A kernel with these statements. */
export function kernelOf(statements: string): PtxKernel {
  return onlyKernel(`.visible .entry k(.param .u64 p)\n{\n\t${statements}\n\tret;\n}`)
}

export type Check = (kernel: PtxKernel, values: KnownValues) => boolean

/** Whether a check finds what it looks for in a kernel. */
export function isFoundIn(kernel: PtxKernel, check: Check): boolean {
  return check(kernel, new KnownValues(kernel))
}
