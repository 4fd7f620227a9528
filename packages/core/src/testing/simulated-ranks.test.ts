import { describeRanks } from './describe-backend.ts'
import { simulateRanks } from './simulated-ranks.ts'

/**
 * In the short form few ranks, and more than the groups have devices, with both orders of messages; in the
 * long form all up to 8.
 */
const counts = process.env.TANDEM_LONG === '1' ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2, 3, 5, 8]

for (const ranks of counts)
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
