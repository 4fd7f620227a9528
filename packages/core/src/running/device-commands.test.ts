import { expect, it } from 'vitest'
import { openGroup } from '../group/group.ts'
import { Turns } from '../group/turns.ts'
import { openRanks } from '../testing/open-ranks.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { openDeviceCommands } from './device-commands.ts'

const options = { label: 'test', onMessage: () => {}, flush: () => {} }

/** A group whose end the test decides. */
function turnsOf() {
  const group = { alive: true, requireAlive() {}, guard: <R>(call: () => Promise<R>) => call() }
  return { group, turns: new Turns(group) }
}

it('calls without a promise happen immediately if no call waits, and otherwise in their turn', async () => {
  const { turns } = turnsOf()
  const calls: string[] = []
  turns.pass([], () => calls.push('at once'))
  expect(calls).toEqual(['at once'])
  const first = turns.enqueue([], async () => calls.push('first'))
  turns.pass([], () => calls.push('second'))
  expect(calls).toEqual(['at once'])
  let ready = () => {}
  const need = new Promise<void>((resolve) => {
    ready = resolve
  })
  turns.pass([need, Promise.reject(new Error('a need may fail'))], () => calls.push('third'))
  const last = turns.enqueue([], async () => calls.push('last'))
  await first
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(calls).toEqual(['at once', 'first', 'second'])
  expect(turns.free).toBe(false)
  ready()
  await last
  expect(calls).toEqual(['at once', 'first', 'second', 'third', 'last'])
  expect(turns.free).toBe(true)
})

it('requests are made immediately if no call waits, are pending until they settle, and keep their order', async () => {
  const { turns } = turnsOf()
  const calls: string[] = []
  let settle = () => {}
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })
  const first = turns.request(() => {
    calls.push('first')
    return settled
  })
  turns.pass([], () => calls.push('behind'))
  expect(calls).toEqual(['first', 'behind'])
  expect(turns.pending).toHaveLength(1)
  settle()
  await first
  expect(turns.pending).toHaveLength(0)
  const waiting = turns.enqueue([], async () => calls.push('waiting'))
  const last = turns.request(async () => calls.push('last'))
  expect(calls).toEqual(['first', 'behind'])
  await Promise.all([waiting, last])
  expect(calls).toEqual(['first', 'behind', 'waiting', 'last'])
})

it('a request follows deferred calls, even if these wait', async () => {
  const { turns } = turnsOf()
  const calls: string[] = []
  let puts = true
  turns.gather(() => {
    if (puts) {
      puts = false
      turns.pass([Promise.resolve()], () => calls.push('put off'))
    }
  })
  await turns.request(async () => calls.push('request'))
  expect(calls).toEqual(['put off', 'request'])
})

it('calls that were put off are made before any other call, until that ends', async () => {
  const { turns } = turnsOf()
  const calls: string[] = []
  const stop = turns.gather(() => calls.push('flushed'))
  turns.pass([], () => calls.push('passed'))
  await turns.enqueue([], async () => calls.push('enqueued'))
  stop()
  await turns.enqueueAlone([], async () => calls.push('alone'))
  expect(calls).toEqual(['flushed', 'passed', 'flushed', 'enqueued', 'alone'])
})

it('calls of a group that has ended are dropped', async () => {
  const { group, turns } = turnsOf()
  group.alive = false
  turns.pass([], () => expect.fail('called'))
})

it('a group of several processes has no command queues', async () => {
  const ranks = await openRanks({ ranks: 2 })
  for (const { devices } of ranks.groups)
    expect(() => openDeviceCommands(devices[0]!, options)).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('several processes') }),
    )
  await ranks.destroy()
})

it('anything but a device of a group is refused', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const copy = { ...group.devices[0]! } as (typeof group.devices)[number]
  expect(() => openDeviceCommands(copy, options)).toThrow(expect.objectContaining({ code: 'validation' }))
  await group.destroy()
})
