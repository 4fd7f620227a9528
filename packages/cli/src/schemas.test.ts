import { type Adapter, portableLimits, type Telemetry, type Topology } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { adapterJson } from './commands/devices.ts'
import { loadCommands } from './commands/index.ts'
import { formatJson } from './json.ts'
import { documentKinds, schemaErrors } from './testing/documents.ts'
import { tandemJson } from './testing/tandem.ts'

const commands = await loadCommands()

// `tandem` of testing/tandem.ts checks every document that commands print in the tests of this folder.
it('every document has a definition, and every definition a document', () => {
  const kinds = commands.flatMap(({ documents }) => Object.keys(documents))
  expect(documentKinds.toSorted()).toEqual(['error', ...kinds].sort())
})

/**
 * Printed by the tests of these commands, which do not take `--virtual`, or need a GPU, a kernel or much
 * time.
 */
const elsewhere = new Set('bench cache demo devices doctor monitor run select topology translate'.split(' '))

it.each(
  commands
    .filter(({ name }) => !elsewhere.has(name))
    .flatMap(({ name, documents }) =>
      Object.entries(documents).map(([kind, given]) => [`${name} ${given}`.trim(), kind] as const),
    ),
)('%s prints %s', async (line, kind) => {
  const { $schema } = await tandemJson(line)
  expect($schema).toBe(`https://unpkg.com/@tandem-gpu/cli/schemas/1.json#/$defs/${kind}`)
})

it('a document with a missing field, an extra one, or a value of a wrong type violates its schema', async () => {
  const document = await tandemJson('reduce --elements 10 --type i32')
  expect(schemaErrors(document)).toEqual([])
  const { valueBits: _, ...short } = document
  expect(schemaErrors(short)).toEqual([expect.stringContaining('valueBits')])
  expect(schemaErrors({ ...document, tpyo: 1 })).toEqual([expect.stringContaining('tpyo')])
  expect(schemaErrors({ ...document, shape: { elements: '10' } }).join()).toContain('/shape/elements')
  expect(schemaErrors({ ...document, value: 'NaN' })).toEqual([])
  expect(schemaErrors({ ...document, $schema: 'transpose' })).toEqual(['$schema is transpose'])
})

it('topology and monitor, which need a GPU with sensors and links, print documents of their types', () => {
  const telemetry: Required<Telemetry> = {
    computeUtilization: 0.5,
    memoryUtilization: 0.25,
    memoryTotalByteLength: 2 ** 37,
    memoryFreeByteLength: 2 ** 36,
    memoryUsedByteLength: 2 ** 36,
    powerWatts: 300.5,
    powerLimitWatts: 700,
    temperatureCelsius: 41,
    fanPercent: 30,
    processes: [{ pid: 1, memoryByteLength: 4096, name: 'python' }, { pid: 2 }],
  }
  const adapter: Required<Adapter> = {
    backend: 'cuda',
    id: 'GPU-1',
    name: 'NVIDIA H200',
    vendor: 'nvidia',
    architecture: 'sm_90',
    driver: '580.159.04',
    software: false,
    memoryByteLength: 2 ** 37,
    rank: 0,
    pciBusId: '0000:1b:00.0',
    uuid: 'GPU-1',
    index: 0,
    nvmlIndex: 0,
    limits: portableLimits,
    features: new Set(['subgroups', 'trap']),
    subgroupMinSize: 32,
    subgroupMaxSize: 32,
    subgroupMatrixConfigs: [{ componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 }],
    telemetry: async () => telemetry,
  }
  const { links }: Pick<Topology, 'links'> = {
    links: [[{ kind: 'self', peerAccess: true }], [{ kind: 'nvlink', linkCount: 18, peerAccess: true }]],
  }
  const printed = (kind: string, document: object) => JSON.parse(formatJson(kind, document))
  const devices = [adapterJson(adapter, telemetry)]
  expect(
    schemaErrors(printed('topology', { backend: 'cuda', adapters: [adapterJson(adapter)], links })),
  ).toEqual([])
  expect(schemaErrors(printed('monitor', { time: new Date(0).toISOString(), devices }))).toEqual([])
})
