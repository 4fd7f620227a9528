import { describeRanks } from './describe-backend.ts'
import { simulateRanks } from './simulated-ranks.ts'

for (const ranks of [1, 2, 3])
  describeRanks(`simulation of ${ranks} ranks`, () => simulateRanks({ ranks, seed: ranks }).backends, {
    devices: ranks,
  })
