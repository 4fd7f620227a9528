import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from '@rollup/wasm-node'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { installed, mustRun, newProject, tools, tryRun } from './testing/consumer.ts'

const { npmrc } = inject('release')
const webpack = createRequire(import.meta.url)('webpack') as typeof import('webpack')
/** The packages that docs/support.md tells users to mark as external. */
const external = /^(@tandem-gpu\/|webgpu$)/

const program = `
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { transpose } from '@tandem-gpu/algorithms'

async function main() {
  const group = await openGroup({ backends: [cuda(), webgpu()], devices: 2, virtual: true })
  const output = new Int32Array(6)
  const report = await transpose(group, { rows: 2, columns: 3, type: 'i32', input: Int32Array.of(1, 2, 3, 4, 5, 6), output })
  console.log(report.verified, output.join(' '))
  await group.destroy()
}
main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
`

let project: string
let entry: string

beforeAll(async () => {
  project = newProject('bundlers', npmrc, { keep: true })
  entry = join(project, 'entry.mjs')
  writeFileSync(entry, program)
  await mustRun('npm', ['install', '--no-audit', '--no-fund', ...installed], { cwd: project })
})

/**
 * Bundles `entry` into the folder `out`. `take`: also bundles the packages, as a user might do by mistake.
 */
type Bundler = (out: string, take: boolean) => Promise<void>

const bundlers: readonly (readonly [name: string, Bundler])[] = [
  [
    'esbuild',
    async (out, take) => {
      const marked = take ? [] : ['@tandem-gpu/*', 'webgpu']
      const outfile = join(out, 'main.mjs')
      await esbuild({
        entryPoints: [entry],
        bundle: true,
        platform: 'node',
        format: 'esm',
        outfile,
        external: marked,
      })
    },
  ],
  [
    'Rollup',
    async (out, take) => {
      const bundle = await rollup({
        input: entry,
        external: take ? /^node:/ : external,
        plugins: [nodeResolve()],
        onwarn: () => {},
      })
      await bundle.write({ dir: out, entryFileNames: 'main.mjs' })
    },
  ],
  [
    'webpack (ESM)',
    (out, take) =>
      runWebpack({
        output: {
          path: out,
          filename: 'main.mjs',
          module: true,
          chunkFormat: 'module',
          library: { type: 'module' },
        },
        experiments: { outputModule: true },
        ...(take ? {} : { externalsType: 'module', externals: [external] }),
      }),
  ],
  [
    'webpack (CommonJS)',
    (out, take) =>
      runWebpack({
        output: { path: out, filename: 'main.cjs' },
        ...(take ? {} : { externalsType: 'commonjs', externals: [external] }),
      }),
  ],
  [
    'Vite',
    async (out, take) => {
      await vite({
        root: project,
        configFile: false,
        logLevel: 'silent',
        ...(take ? { ssr: { noExternal: true } } : {}),
        build: { ssr: entry, outDir: out, rollupOptions: { output: { entryFileNames: 'main.mjs' } } },
      })
    },
  ],
]

function runWebpack(options: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const shared = { entry, mode: 'production', target: 'node20', optimization: { minimize: false } } as const
    webpack({ ...shared, ...options }, (error, stats) => {
      if (error) reject(error)
      else if (stats!.hasErrors()) reject(new Error(stats!.toString({ all: false, errors: true })))
      else resolve()
    })
  })
}

describe.each(bundlers)('%s', (name, bundle) => {
  const folder = (kind: string) => join(project, `${name.replace(/\W+/g, '-')}-${kind}`)
  const mainOf = (out: string) => join(out, readdirSync(out).find((file) => file.startsWith('main.'))!)

  it('makes a bundle that runs, with the packages marked external', async () => {
    const out = folder('external')
    await bundle(out, false)
    const stdout = await mustRun(tools.node20, [mainOf(out)], { cwd: project, node: tools.node20 })
    expect(stdout.trim()).toBe('true 1 4 2 5 3 6')
  })

  it('makes a bundle that says what to do if it includes the packages by mistake', async () => {
    const out = folder('mistaken')
    await bundle(out, true)
    // Simulates another machine: some bundlers write paths of this one into the code.
    const elsewhere = newProject('elsewhere', npmrc)
    mkdirSync(join(elsewhere, 'app'))
    cpSync(out, join(elsewhere, 'app'), { recursive: true })
    const hidden = join(elsewhere, 'app', mainOf(out).slice(out.length + 1))
    await mustRun('mv', [join(project, 'node_modules'), join(project, 'hidden')], { cwd: project })
    try {
      const { status, output } = await tryRun(tools.node24, [hidden], { cwd: elsewhere })
      expect(status, output).toBe(1)
      expect(output).toMatch(/@tandem-gpu\/backend-cuda is bundled into another file.* are external/)
    } finally {
      await mustRun('mv', [join(project, 'hidden'), join(project, 'node_modules')], { cwd: project })
    }
  })
})
