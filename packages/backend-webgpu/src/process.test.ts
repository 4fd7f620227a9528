import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('./testing/idle-process.ts', import.meta.url))

function run(...args: string[]): Promise<{ cpuFraction: number; code: number | null; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.on('data', (data) => {
      output += data
    })
    child.stderr.on('data', (data) => {
      errors += data
    })
    child.on('error', reject)
    child.on('close', (code) => {
      const { cpuFraction } = JSON.parse(output || '{}')
      resolve({ cpuFraction, code, errors })
    })
  })
}

test.each(['dispose', 'leave open'])(
  'a process that opened a device idles, then exits by itself: %s',
  async (end) => {
    const { cpuFraction, code, errors } = await run(end)
    expect(errors).toBe('')
    expect(code).toBe(0)
    expect(cpuFraction).toBeLessThan(0.02)
  },
)
