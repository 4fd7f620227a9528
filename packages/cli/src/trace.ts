import type { RunResult } from '@tandem-gpu/core'

export interface TraceTrack {
  /** The algorithm, which the viewer shows as one process. */
  readonly name: string
  /** The names of the devices. */
  readonly devices: readonly string[]
  readonly spans: NonNullable<RunResult['spans']>
}

/**
 * Chrome's trace event format (opens in Perfetto and chrome://tracing): one process per algorithm, and one
 * thread per device and kind of work, so that copies are shown next to the kernels that they overlap. Times
 * are microseconds from the start of each run.
 */
export function chromeTrace(tracks: readonly TraceTrack[]): string {
  const events: object[] = []
  tracks.forEach((track, pid) => {
    events.push({ ph: 'M', name: 'process_name', pid, tid: 0, args: { name: track.name } })
    for (const { device, lane, tid } of threadsOf(track)) {
      const name = `${device} ${track.devices[device] ?? ''} ${lane}`.replace(/ +/g, ' ')
      events.push({ ph: 'M', name: 'thread_name', pid, tid, args: { name } })
      events.push({ ph: 'M', name: 'thread_sort_index', pid, tid, args: { sort_index: tid } })
    }
    for (const span of track.spans) {
      events.push({
        ph: 'X',
        name: span.label,
        cat: span.kind,
        pid,
        tid: threadOf(span.device, span.kind),
        ts: span.startSeconds * 1e6,
        dur: (span.endSeconds - span.startSeconds) * 1e6,
        args: { command: span.command, repetition: span.repetition, device: span.device },
      })
    }
  })
  return `${JSON.stringify({ traceEvents: events, displayTimeUnit: 'ns' })}\n`
}

const lanes = ['kernels', 'copies'] as const

function threadOf(device: number, kind: string): number {
  return device * lanes.length + (kind === 'dispatch' ? 0 : 1)
}

function threadsOf({ spans }: TraceTrack) {
  const tids = [...new Set(spans.map(({ device, kind }) => threadOf(device, kind)))].sort((a, b) => a - b)
  return tids.map((tid) => ({
    tid,
    device: Math.floor(tid / lanes.length),
    lane: lanes[tid % lanes.length]!,
  }))
}
