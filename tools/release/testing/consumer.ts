import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished } from 'vitest'
import { type Outcome, runAsync } from './run-async.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

const own = join(root, 'tools/release/node_modules')

/** The tools that `npm ci --prefix tools/release` installs. */
export const tools = {
  node20: join(own, 'node-20/bin/node'),
  node22: join(own, 'node-22/bin/node'),
  node24: join(own, 'node-24/bin/node'),
  node26: join(own, 'node-26/bin/node'),
  bun: join(own, '@oven/bun-linux-x64/bin/bun'),
  deno: join(own, '@deno/linux-x64-glibc/deno'),
  pnpm: join(own, 'pnpm/bin/pnpm.cjs'),
  yarn: join(own, '@yarnpkg/cli-dist/bin/yarn.js'),
} as const

/** The packages that a project of the README installs, by name. */
export const installed = [
  '@tandem-gpu/core',
  '@tandem-gpu/backend-cuda',
  '@tandem-gpu/backend-webgpu',
  '@tandem-gpu/backend-mpi',
  '@tandem-gpu/swiftshader-linux-x64',
  '@tandem-gpu/webgpu-api',
  '@tandem-gpu/algorithms',
  '@tandem-gpu/wgsl',
  '@tandem-gpu/cli',
]

export interface Program {
  readonly file: string
  readonly source: string
  /** One line for each console.log that has a comment: the comment up to its colon. */
  readonly expected: string
}

/** The TypeScript programs of the README, and one that computes through the WebGPU API. */
export function programs(): Program[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const fromReadme = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, source], i) => ({
    file: `readme-${i + 1}.ts`,
    source: source!,
  }))
  const file = 'webgpu-api-program.ts'
  const source = readFileSync(join(import.meta.dirname, file), 'utf8')
  return [...fromReadme, { file, source }].map((program) => ({
    ...program,
    expected: [...program.source.matchAll(/^console\.log\(.*\) \/\/ ([^:\n]*)/gm)]
      .map(([, text]) => text!.trim())
      .join('\n'),
  }))
}

/**
 * Creates a folder with a package.json, an .npmrc for the local registry and the programs as JavaScript. It
 * is removed after the test.
 */
export function newProject(name: string, npmrc: string, { keep = false } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), `tandem-${name}-`))
  if (!keep) onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, private: true, type: 'module' }, null, 2),
  )
  writeFileSync(join(folder, '.npmrc'), npmrc)
  for (const { file, source } of programs())
    writeFileSync(join(folder, file.replace('.ts', '.mjs')), stripTypeScriptTypes(source))
  return folder
}

export interface RunOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  /** The Node that becomes the first `node` of the PATH. */
  readonly node?: string
}

/** Runs a program and returns its standard output; if it fails, fails the test with all of its output. */
export async function mustRun(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  const outcome = await tryRun(program, args, options)
  expect(outcome.status, `${program} ${args.join(' ')}\n${outcome.output}`).toBe(0)
  return outcome.stdout
}

export function tryRun(
  program: string,
  args: readonly string[],
  { cwd, env, node = tools.node24 }: RunOptions,
): Promise<Outcome> {
  // npm scripts and nx set variables that would affect the project's package managers.
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^(npm_|NX_|VITEST|FORCE_COLOR$|NODE_ENV$|NODE_PATH$)/i.test(key),
  )
  const path = [
    dirname(node),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(root)),
  ]
  return runAsync(program, args, {
    cwd,
    env: {
      ...Object.fromEntries(inherited),
      PATH: path.join(delimiter),
      NO_COLOR: '1',
      HOME: inject('release').home,
      ...env,
    },
  })
}

/** `tandem doctor` finds the software GPU. */
export function expectDoctor(stdout: string): void {
  expect(stdout).toMatch(/^cuda does not work: The NVIDIA driver library cannot be loaded|^cuda works/m)
  expect(stdout).toMatch(/^webgpu works: \d+ device/m)
}
