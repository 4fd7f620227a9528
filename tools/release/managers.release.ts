import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { expectDoctor, installed, mustRun, newProject, programs, tools } from './testing/consumer.ts'

const { npmrc, registry, version } = inject('release')
const { node20, node22, node24, node26 } = tools

describe('a project that installs the packages by name', () => {
  it.each([
    ['Node 20.19.0', node20],
    ['Node 22.17.0', node22],
    ['Node 24', node24],
    ['Node 26', node26],
  ])('with npm, on %s', async (_, node) => {
    const cwd = newProject('npm', npmrc)
    await mustRun('npm', ['install', '--no-audit', '--no-fund', ...installed], { cwd })
    const { version: found } = JSON.parse(
      readFileSync(join(cwd, 'node_modules/@tandem-gpu/core/package.json'), 'utf8'),
    )
    expect(found).toBe(version)
    expectDoctor(await mustRun(node, ['node_modules/.bin/tandem', 'doctor'], { cwd, node }))
    for (const { file, expected } of programs())
      expect((await mustRun(node, [file.replace('.ts', '.mjs')], { cwd, node })).trim()).toBe(expected)
  })

  it('with pnpm', async () => {
    const cwd = newProject('pnpm', npmrc)
    // pnpm 11 fails until it is told whether a package may run its install script, which Dawn's does not need
    // to.
    writeFileSync(join(cwd, 'pnpm-workspace.yaml'), 'allowBuilds:\n  webgpu: false\n')
    const pnpm = (...args: string[]) => mustRun(node24, [tools.pnpm, ...args], { cwd })
    await pnpm('add', '--config.minimum-release-age=0', ...installed)
    expectDoctor(await pnpm('exec', 'tandem', 'doctor'))
    await runPrograms(cwd, (file) => mustRun(node24, [file], { cwd }))
  })

  it.each(['node-modules', 'pnp'])('with Yarn 4, nodeLinker %s', async (linker) => {
    const cwd = newProject(`yarn-${linker}`, npmrc)
    writeFileSync(
      join(cwd, '.yarnrc.yml'),
      [
        `nodeLinker: ${linker}`,
        `npmRegistryServer: ${JSON.stringify(registry)}`,
        'unsafeHttpWhitelist: ["127.0.0.1"]',
        'enableTelemetry: false',
        'enableGlobalCache: true',
        'npmMinimalAgeGate: 0',
        '',
      ].join('\n'),
    )
    // A separate lock file keeps Yarn from looking for a project in parent folders.
    writeFileSync(join(cwd, 'yarn.lock'), '')
    const yarn = (...args: string[]) => mustRun(node24, [tools.yarn, ...args], { cwd })
    await yarn('add', ...installed)
    expect(existsSync(join(cwd, '.pnp.cjs'))).toBe(linker === 'pnp')
    expectDoctor(await yarn('tandem', 'doctor'))
    await runPrograms(cwd, (file) => yarn('node', file))
  })

  it('with Bun, which runs them too', async () => {
    const cwd = newProject('bun', npmrc)
    await mustRun(tools.bun, ['add', ...installed], { cwd })
    expectDoctor(await mustRun(tools.bun, ['--bun', 'node_modules/.bin/tandem', 'doctor'], { cwd }))
    await runPrograms(cwd, (file) => mustRun(tools.bun, [file], { cwd }))
  })
})

describe('the tandem command', () => {
  it('names the backend to install if none is installed', async () => {
    const cwd = newProject('alone', npmrc)
    await mustRun('npm', ['install', '--no-audit', '--no-fund', '@tandem-gpu/cli'], { cwd })
    expect(existsSync(join(cwd, 'node_modules/webgpu'))).toBe(false)
    const { runAsync } = await import('./testing/run-async.ts')
    const { status, output } = await runAsync(node24, ['node_modules/.bin/tandem', 'doctor'], { cwd })
    expect(status).toBe(3)
    expect(output).toContain('npm install @tandem-gpu/backend-webgpu')
    expect(output).toContain('npm install @tandem-gpu/backend-cuda')
  })
})

async function runPrograms(cwd: string, run: (file: string) => Promise<string>): Promise<void> {
  expect(programs().length, cwd).toBeGreaterThanOrEqual(2)
  for (const { file, expected } of programs())
    expect((await run(file.replace('.ts', '.mjs'))).trim()).toBe(expected)
}
