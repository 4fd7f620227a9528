import type { TestKernel } from './elementwise.ts'
import {
  floatFunctionKernels,
  integerFunctionKernels,
  logicalFunctionKernels,
  packingKernels,
} from './function-kernels.ts'
import { atomicKernels, subgroupKernels } from './memory-kernels.ts'
import { conversionKernels, foldingKernels, matrixKernels, operatorKernels } from './operator-kernels.ts'

/**
 * One kernel for each built-in function, operator and conversion, over the kinds and shapes that it takes.
 */
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
