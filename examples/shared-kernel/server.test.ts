import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startServer } from './server.ts'

it('answers with a picture that its GPU drew, and with a sentence to a wrong request', async () => {
  const server = await startServer()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const picture = await (await fetch(`${url}/?rows=11&columns=31`)).text()
  const lines = picture.trimEnd().split('\n')
  expect(lines.length).toBe(11)
  expect(lines.every((line) => line.length === 31)).toBe(true)
  expect(lines[5]).toMatch(/^\.+%+[^%]+$/)
  expect(lines).toEqual([...lines].reverse())
  const wrong = await fetch(`${url}/?rows=-1`)
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('-1')])
  await new Promise((resolve) => server.close(resolve))
})
