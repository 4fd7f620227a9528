import { describeBackend } from './describe-backend.ts'
import { referenceBackend } from './reference-backend.ts'

describeBackend('reference', () => referenceBackend({ seed: 1 }))
describeBackend(
  'reference with denied peers, 3 devices',
  () => referenceBackend({ seed: 2, peerAccess: false }),
  {
    devices: 3,
  },
)
