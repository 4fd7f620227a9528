import { expect, it } from 'vitest'
import { chromeTrace } from './trace.ts'

it('puts kernels and copies of each device on separate tracks, in microseconds', () => {
  const span = { repetition: 0, startSeconds: 0.001, endSeconds: 0.0015 }
  const { traceEvents } = JSON.parse(
    chromeTrace([
      { name: 'empty', devices: [], spans: [] },
      {
        name: 'transpose',
        devices: ['A', 'B'],
        spans: [
          { ...span, command: 0, device: 1, label: 'copy tile', kind: 'copy' },
          { ...span, command: 1, device: 1, label: 'transpose tile', kind: 'dispatch' },
        ],
      },
    ]),
  )
  const named = (name: string) => traceEvents.filter((event: { name: string }) => event.name === name)
  expect(named('process_name').map((event: { args: object }) => event.args)).toEqual([
    { name: 'empty' },
    { name: 'transpose' },
  ])
  expect(named('thread_name')).toMatchObject([
    { pid: 1, tid: 2, args: { name: '1 B kernels' } },
    { pid: 1, tid: 3, args: { name: '1 B copies' } },
  ])
  expect(named('copy tile')).toMatchObject([
    { ph: 'X', pid: 1, tid: 3, ts: 1000, dur: expect.closeTo(500), cat: 'copy' },
  ])
  expect(named('transpose tile')).toMatchObject([{ pid: 1, tid: 2, args: { device: 1, command: 1 } }])
})
