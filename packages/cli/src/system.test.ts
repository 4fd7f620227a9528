import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Backend, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { examineWebGpuApi } from './commands/doctor.ts'
import { schemaErrors } from './testing/documents.ts'
import { tandem, tandemJson, testBackend } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

it('demo verifies four algorithms, and writes a picture and a trace', async () => {
  const folder = join(await temporaryFolder(), 'new', 'demo')
  const { exit, stdout, stderr } = await tandem(`demo --backend ${testBackend} --folder ${folder}`)
  expect([exit, stderr]).toEqual([0, ''])
  expect(stdout.match(/^(transpose|reduce|matmul|jacobi) .* verified /gm)).toHaveLength(4)
  expect(stdout).toContain(folder)
  expect((await readFile(join(folder, 'jacobi.png'))).subarray(1, 4).toString()).toBe('PNG')
  const { traceEvents } = JSON.parse(await readFile(join(folder, 'trace.json'), 'utf8'))
  const processes = traceEvents.filter(({ name }: { name: string }) => name === 'process_name')
  expect(processes.map(({ args }: { args: { name: string } }) => args.name)).toEqual([
    ...['transpose', 'reduce', 'matmul', 'jacobi'],
  ])
})

it('devices lists every backend, and says why one has none', async () => {
  const { exit, stdout } = await tandem('devices --json')
  expect(exit).toBe(0)
  const { schema, backends } = JSON.parse(stdout)
  expect([schema, backends.map(({ name }: { name: string }) => name)]).toEqual([1, ['cuda', 'webgpu']])
  for (const { adapters, absence } of backends) {
    if (adapters.length === 0) expect(absence.reason).toMatch(/\w+ .*\.$/)
    for (const adapter of adapters) {
      expect(adapter).toMatchObject({
        id: expect.any(String),
        name: expect.any(String),
        software: expect.any(Boolean),
      })
    }
  }
  for (const missing of ['package', 'addon']) {
    const absence = { code: 'unsupported', reason: 'It is not there.', missing }
    const [first] = backends
    expect(schemaErrors({ ...JSON.parse(stdout), backends: [{ ...first, adapters: [], absence }] })).toEqual(
      [],
    )
  }
  expect((await tandem('devices')).stdout).toMatch(/^cuda: .*\n(.*\n)*webgpu: \d+ device/)
})

it('doctor runs a kernel on the backend under test', async () => {
  const { exit, stdout } = await tandem(`doctor --backend ${testBackend} --json`)
  expect(exit).toBe(0)
  expect(JSON.parse(stdout).backends).toEqual([
    expect.objectContaining({
      name: testBackend,
      works: true,
      adapters: expect.arrayContaining([expect.anything()]),
    }),
  ])
  expect((await tandem(`doctor --backend ${testBackend}`)).stdout).toMatch(
    new RegExp(`^${testBackend} works: `),
  )
})

it('doctor says on which backends the WebGPU API works, and why it does not on others', async () => {
  const examined = async (backend: Backend, devices: number) => {
    const group = await openGroup({ backends: [backend], devices, label: 'doctor' })
    const diagnosis = await examineWebGpuApi(group)
    expect(await group.destroy()).toEqual({ leaks: [] })
    return diagnosis
  }
  expect(await examined(referenceBackend({ devices: 2 }), 2)).toEqual({ works: true })
  const inner = referenceBackend()
  const withoutQueues: Backend = {
    name: 'without queues',
    adapters: () => inner.adapters(),
    open: async (...given) => Object.assign(await inner.open(...given), { openCommandQueue: undefined }),
  }
  expect(await examined(withoutQueues, 1)).toEqual({
    works: false,
    code: 'unsupported',
    reason:
      'Group "doctor" can only run recorded programs: its backend does not support command queues. cuda() does, and so does, without a GPU, referenceBackend() of @tandem-gpu/core/testing.',
  })

  const { stdout } = await tandem(`doctor --backend ${testBackend} --json`)
  const { backends } = JSON.parse(stdout)
  const works = testBackend === 'cuda'
  expect(backends[0].webgpuApi).toMatchObject({ works })
  expect((await tandem(`doctor --backend ${testBackend}`)).stdout).toMatch(
    works
      ? /^ {2}The WebGPU API \(@tandem-gpu\/webgpu-api\) works on each of its devices\.$/m
      : /^ {2}The WebGPU API \(.*\) does not run on this backend: it needs the CUDA backend, in a single process\.$/m,
  )
})

it('select explains its choice', async () => {
  const { exit, stdout } = await tandem(`select --backend ${testBackend} --by memory --json`)
  expect(exit).toBe(0)
  const { chosen, ranked, reason, by } = JSON.parse(stdout)
  expect([by, chosen.length]).toEqual(['memory', 1])
  expect(reason).toMatch(/\w/)
  expect(ranked[0]).toMatchObject({ rank: 0, reason: expect.any(String), adapter: { id: chosen[0].id } })
  const explained = await tandem(`select --backend ${testBackend} --explain`)
  expect(explained.stdout).toContain(chosen[0].name)
  expect(explained.stdout).toMatch(/rank +device +name/)
})

it('bandwidth measures every pair of devices', async () => {
  const { pairs } = await tandemJson('bandwidth --devices 2 --bytes 64KiB --samples 3')
  expect(pairs).toHaveLength(4)
  for (const { from, to, oneWay, bothWays, latencySeconds } of pairs) {
    expect(oneWay).toBeGreaterThan(0)
    expect(bothWays === undefined).toBe(from === to)
    expect(latencySeconds).toBeGreaterThan(0)
  }
  const { stdout } = await tandem(
    `bandwidth --backend ${testBackend} --virtual --devices 2 --bytes 64KiB --samples 1`,
  )
  expect(stdout).toMatch(/One way, GB\/s \(copies of 64\.0 KiB\)\nfrom +to 0 +to 1\n0 +[\d.]+ +[\d.]+\n1 +/)
})

it('bench times the requested work, and writes a page that needs no other file', async () => {
  const folder = await temporaryFolder()
  const line =
    'bench --works transpose,reduce --devices 1,2 --schedules serial,overlapped --sizes small --samples 1'
  const document = await tandemJson(`${line} --report ${folder}/bench.html`)
  expect(document).toMatchObject({ schema: 1, kind: 'bench', peers: [], machine: { backend: testBackend } })
  expect(document.ours).toHaveLength(2 * 3 * 2 * 2)
  expect(document.limits).toMatchObject([
    { work: 'copy', devices: 1 },
    { work: 'copy', devices: 2 },
    { work: 'peer-copy', devices: 2 },
  ])
  for (const result of document.ours) {
    expect(result).toMatchObject({ verified: true, unit: 'B/s', shape: expect.anything() })
    expect(result.rate).toBeGreaterThan(0)
  }
  const page = await readFile(join(folder, 'bench.html'), 'utf8')
  expect(page.match(/<figure>/g)).toHaveLength(4)
  expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org)|src=|href=/)
})

it('bench times scans, histograms, sorts and transforms, each in its unit', async () => {
  const { ours } = await tandemJson(
    'bench --works scan,histogram,sort,fft --devices 1 --sizes small --samples 1',
  )
  const units = {
    scan: 'B/s',
    histogram: 'B/s',
    sort: 'elements/s',
    'sort-pairs': 'elements/s',
    fft: 'FLOP/s',
  }
  for (const [work, unit] of Object.entries(units)) {
    const results = ours.filter((result: { work: string }) => result.work === work)
    expect(results.length, work).toBeGreaterThan(1)
    for (const result of results) expect(result).toMatchObject({ verified: true, unit })
  }
  expect(new Set(ours.map(({ work }: { work: string }) => work))).toEqual(new Set(Object.keys(units)))
})

it.each(['bash', 'zsh', 'fish', 'powershell'])('completion prints a script for %s', async (shell) => {
  expect(await tandem(`completion ${shell}`)).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/__tandem/),
  })
})

it('bash reads the script of completion twice without a complaint', async () => {
  const { stdout } = await tandem('completion bash')
  const file = join(await temporaryFolder(), 'completion.bash')
  await writeFile(file, stdout)
  // `complete` is absent if bash was built without completion.
  const { stderr, status } = spawnSync('bash', ['-c', 'complete() { :; }; . "$0"; . "$0"', file], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
})

it('completion in bash does not need the package bash-completion', async () => {
  const { stdout } = await tandem('completion bash')
  const file = join(await temporaryFolder(), 'completion.bash')
  await writeFile(file, stdout)
  // Stands in for the command and for what bash lacks if it was built without completion.
  const shell = `complete() { :; }; compopt() { :; }; compgen() { echo "$2"; }
tandem() { printf '%s\\tdescription\\n:4\\n' "$*"; }
. "$0"
COMP_WORDS=(tandem jacobi --it) COMP_CWORD=2
__tandem_complete
echo "\${COMPREPLY[*]}"`
  const { stdout: reply, stderr } = spawnSync('bash', ['--norc', '-c', shell, file], { encoding: 'utf8' })
  expect([reply, stderr]).toEqual(['complete -- jacobi --it\n', ''])
})

it('completion offers commands, options and their choices', async () => {
  const suggestions = async (line: string) =>
    (await tandem(`complete -- ${line}`)).stdout.split('\n').map((text) => text.split('\t')[0])
  expect(await suggestions('tra')).toContain('transpose')
  expect(await suggestions('reduce --ker')).toContain('--kernel')
  expect(await suggestions('reduce --kernel at')).toContain('atomic')
})

it.each([
  ['transpose --input a', ':0'],
  ['histogram --edges a', ':0'],
  ['run --buffer x=a', ':0'],
  ['run ker', ':0'],
  ['run --times 3', ':4'],
  ['transpose --rows 3', ':4'],
  ['transpose a', ':4'],
  ['nothing a', ':4'],
])('completion of %s: names of files only where one is expected', async (line, allowed) => {
  expect((await tandem(`complete -- ${line}`)).stdout).toBe(`${allowed}\n`)
})

it('monitor shows sensors, or says that no device has any', async () => {
  const { exit, stdout, stderr } = await tandem(
    `monitor --backend ${testBackend} --count 2 --interval 1 --json`,
  )
  if (exit === 0) {
    const readings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(readings).toHaveLength(2)
    expect(readings[0]).toMatchObject({ schema: 1, time: expect.any(String), devices: expect.any(Array) })
    expect(readings[0].devices[0].telemetry).toBeDefined()
  } else {
    expect([exit, stderr]).toEqual([3, expect.stringMatching(/No device here has sensors\. \w+/)])
  }
})

it('topology shows links, or says why it cannot', async () => {
  const { exit, stdout, stderr } = await tandem(`topology --backend ${testBackend} --json`)
  if (exit === 0) {
    const { adapters, links } = JSON.parse(stdout)
    expect(links).toHaveLength(adapters.length)
    expect(links[0][0]).toMatchObject({ kind: 'self' })
  } else {
    expect([exit, stderr]).toEqual([3, expect.stringMatching(/cannot report the links/)])
  }
})
