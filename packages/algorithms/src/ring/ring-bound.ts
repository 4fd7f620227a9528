import type { RingScheme } from './record-ring.ts'

/** The seconds of one step's parts on one node, each measured alone. */
export interface StepSeconds {
  readonly message: number
  readonly upload: number
  readonly product: number
}

/**
 * The least time of `scheme` on `nodes` nodes: the time that it cannot hide. Undefined for the schemes that
 * are not in the published comparison. For N steps of message m, upload u and product p: none N·(u + p + m);
 * native N·(u + max(m, p)); sequence N·max(m, u + p); streamed in S pieces N·max(m, max(u, p) + min(u, p)/S);
 * interleaved max(m, u) + (N − 1)·max(m, u, p) + p.
 */
export function ringBound(
  scheme: RingScheme,
  nodes: number,
  { message: m, upload: u, product: p }: StepSeconds,
  pieces = 16,
): number | undefined {
  switch (scheme) {
    case 'none':
      return nodes * (u + p + m)
    case 'native':
      return nodes * (u + Math.max(m, p))
    case 'sequence':
      return nodes * Math.max(m, u + p)
    case 'streamed':
      return nodes * Math.max(m, Math.max(u, p) + Math.min(u, p) / pieces)
    case 'interleaved':
      return Math.max(m, u) + (nodes - 1) * Math.max(m, u, p) + p
    default:
      return undefined
  }
}
