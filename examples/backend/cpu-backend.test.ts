import { describeBackend } from '@tandem-gpu/core/testing'
import { cpu } from './cpu-backend.ts'

describeBackend('cpu', cpu)
describeBackend('cpu × 3', cpu, { devices: 3 })
