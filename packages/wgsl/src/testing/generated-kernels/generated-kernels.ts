import type { TestKernel } from './elementwise.ts'
import {
  floatFunctionKernels,
  integerFunctionKernels,
  logicalFunctionKernels,
  packingKernels,
} from './function-kernels.ts'
import { atomicKernels, subgroupKernels } from './memory-kernels.ts'
import { conversionKernels, foldingKernels, matrixKernels, operatorKernels } from './operator-kernels.ts'

/** One kernel per built-in function, operator and conversion, over all types and shapes that it accepts. */
export function generatedKernels(): TestKernel[] {
  return [
    ...floatFunctionKernels(),
    ...integerFunctionKernels(),
    ...logicalFunctionKernels(),
    ...operatorKernels(),
    ...conversionKernels(),
    ...packingKernels(),
    ...matrixKernels(),
    ...atomicKernels(),
    ...subgroupKernels(),
    ...foldingKernels(),
  ]
}
