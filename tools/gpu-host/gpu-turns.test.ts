import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { takeTurn } from './gpu-turns.ts'

it('gives one turn at a time, and the next one when it ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-turns-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'turn')
  const end = await takeTurn(path)
  let second: (() => void) | undefined
  const waiting = takeTurn(path).then((endSecond) => {
    second = endSecond
  })
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(second).toBeUndefined()
  end()
  await waiting
  end()
  expect(existsSync(path)).toBe(true)
  second!()
  expect(existsSync(path)).toBe(false)
})
