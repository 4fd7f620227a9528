import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { expect, it } from 'vitest'
import { backendsNamed, optionalBackend } from './backends.ts'
import { examineMpi } from './commands/doctor.ts'
import { openJob } from './job.ts'

const topology = async () => ({ adapters: [], links: [] })
const present: Backend<Runtime> = {
  name: 'present',
  adapters: async () => ({ adapters: [], absence: { code: 'no-driver', reason: 'There is no driver.' } }),
  open: () => Promise.reject(new Error('not opened here')),
  topology,
}

it('names the package to install if a backend is not installed', async () => {
  const missing = Object.assign(
    new Error("Cannot find package '@tandem-gpu/backend-x' imported from /app/cli.js"),
    {
      code: 'ERR_MODULE_NOT_FOUND',
    },
  )
  const backend = optionalBackend('x', '@tandem-gpu/backend-x', () => Promise.reject(missing))
  expect(await backend.adapters()).toEqual({
    adapters: [],
    absence: {
      code: 'no-driver',
      reason: 'The package @tandem-gpu/backend-x is not installed next to the tandem command.',
      remedy:
        'Run npm install @tandem-gpu/backend-x, with --global if @tandem-gpu/cli is installed globally.',
      missing: 'package',
    },
  })
})

it('names the package to install if mpirun starts several processes without it', async () => {
  const missing = Object.assign(
    new Error("Cannot find package '@tandem-gpu/backend-mpi' imported from /app/cli.js"),
    { code: 'ERR_MODULE_NOT_FOUND' },
  )
  await expect(openJob({ PMI_SIZE: '3' }, () => Promise.reject(missing))).rejects.toMatchObject({
    name: 'UsageError',
    message:
      'mpirun started 3 processes, but the package @tandem-gpu/backend-mpi, which connects them, is not installed next to the tandem command. Run npm install @tandem-gpu/backend-mpi, with --global if @tandem-gpu/cli is installed globally.',
  })
  const broken = new SyntaxError('Unexpected token')
  await expect(openJob({ PMI_SIZE: '3' }, () => Promise.reject(broken))).rejects.toBe(broken)
})

it('doctor names the package for programs over several processes if it is not installed', async () => {
  const missing = Object.assign(new Error("Cannot find package '@tandem-gpu/backend-mpi'"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  const { works, reason } = (await examineMpi(() => Promise.reject(missing))) as Record<string, unknown>
  expect([works, reason]).toEqual([
    false,
    expect.stringMatching(
      /^The package @tandem-gpu\/backend-mpi is not installed .*\. Run npm install .*\.$/,
    ),
  ])
})

it('doctor says in a sentence why MPI does not load', async () => {
  const broken = new Error('too many open files.')
  expect(await examineMpi(() => Promise.reject(broken))).toEqual({ works: false, reason: broken.message })
})

it('does not report an error inside an installed backend as a missing package', async () => {
  const broken = Object.assign(new Error("Cannot find package 'left-pad' imported from /app/x.js"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  const backend = optionalBackend('x', '@tandem-gpu/backend-x', () => Promise.reject(broken))
  await expect(backend.adapters()).rejects.toBe(broken)
})

it('is the installed backend, loaded once, with its topology', async () => {
  let loads = 0
  const backend = optionalBackend('present', '@tandem-gpu/present', async () => {
    loads += 1
    return present
  })
  expect(loads).toBe(0)
  expect((await backend.adapters()).absence?.reason).toBe('There is no driver.')
  await backend.adapters()
  expect(loads).toBe(1)
  expect(backend.topology).toBe(topology)
})

it('finds the backends by name', () => {
  expect(backendsNamed('auto').map(({ name }) => name)).toEqual(['cuda', 'webgpu'])
  expect(backendsNamed('webgpu').map(({ name }) => name)).toEqual(['webgpu'])
})
