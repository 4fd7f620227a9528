import { describeKernels } from '@tandem-gpu/core/testing'
import { describe } from 'vitest'
import { cuda } from './cuda.ts'

const { absence } = await cuda().adapters()

describe.skipIf(absence !== undefined)(`on a GPU${absence ? ` (skipped: ${absence.reason})` : ''}`, () => {
  describeKernels('cuda', () => cuda())
})
