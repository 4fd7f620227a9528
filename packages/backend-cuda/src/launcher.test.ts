// Launches that other native code starts: each ends exactly once, whatever fails.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { NativeGroup } from './native-addon.ts'
import { nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

interface Starter {
  launch(launcher: unknown): void
  /** The outcomes of all launches that have ended, over all tests. */
  ends(): string[]
}

const require = createRequire(import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'tandem-launch-'))
let starter: Starter

beforeAll(() => {
  const built = spawnSync(
    'c++',
    [
      ...['-shared', '-fPIC', '-std=c++17', `-I${require('node-api-headers').include_dir}`],
      ...[
        fileURLToPath(new URL('../native/test/launch.cpp', import.meta.url)),
        '-o',
        `${folder}/launch.node`,
      ],
    ],
    { encoding: 'utf8' },
  )
  expect(built.stderr).toBe('')
  starter = require(`${folder}/launch.node`)
})
afterEach(() => configureFake())
afterAll(() => rmSync(folder, { recursive: true }))

/** The outcomes of the next `count` launches. */
async function ends(count: number): Promise<string[]> {
  const before = starter.ends().length
  for (;;) {
    const ended = starter.ends().slice(before)
    if (ended.length >= count) return ended
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function openWithGraph(): Promise<NativeGroup> {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  const group = await addon.openGroup(fakeLibraries().cuda, [0])
  await group.createGraph(1, 0, Float64Array.of(0))
  return group
}

const launchers = {
  launch: (group: NativeGroup) => group.createLauncher(1, [1]),
  run: async (group: NativeGroup) => group.createRunLauncher([], [{ graphs: [1], count: 2 }]),
}

it.each(Object.entries(launchers))(
  'a %s says how it ends where memory runs out, and the next one works',
  async (_, made) => {
    const group = await openWithGraph()
    const launcher = await made(group)
    for (const call of ['cuGraphLaunch', 'cuEventRecord', 'cuEventQuery']) {
      configureFake({ FAKE_FAIL: `${call}:-1:1` })
      const failed = ends(1)
      starter.launch(launcher)
      expect(await failed, call).toEqual(['out-of-memory'])
      configureFake()
      const good = ends(3)
      for (let turn = 0; turn < 3; turn += 1) starter.launch(launcher)
      expect(await good, call).toEqual(['done', 'done', 'done'])
    }
    expect(await group.close()).toEqual([])
    const late = ends(1)
    starter.launch(launcher)
    expect(await late).toEqual(['group-lost'])
  },
)
