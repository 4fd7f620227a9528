import type { AddressInfo } from 'node:net'
import { startServer } from './server.ts'

const server = await startServer(Number(process.argv[2] ?? 8080))
console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}/?rows=24&columns=64`)
