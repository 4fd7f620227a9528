import { describeRanks } from './describe-backend.ts'
import { simulateRanks } from './simulated-ranks.ts'

for (const ranks of [1, 2, 3, 4, 5, 6, 7, 8])
  describeRanks(
    `simulation of ${ranks} ranks`,
    () => simulateRanks({ ranks, seed: ranks, order: ranks % 2 === 0 ? 'adversarial' : 'random' }).backends,
    { devices: Math.min(ranks, 3) },
  )
describeRanks(
  'simulation of 3 ranks with 2, 0 and 3 devices',
  () => simulateRanks({ ranks: 3, adapters: [2, 0, 3] }).backends,
  {
    devices: 5,
  },
)
