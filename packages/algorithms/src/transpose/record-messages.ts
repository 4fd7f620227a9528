import { type BufferView, type ElementType, type Recorder, ranges } from '@tandem-gpu/core'
import { dispatchPersistent, dispatchTranspose } from './dispatch-transpose.ts'
import type { TransposeKernel } from './transpose-kernels.ts'

/** A tile that is sent as a message between processes. */
export interface MessageTile<T extends ElementType> {
  readonly name: string
  readonly sender: number
  readonly receiver: number
  /** Its position in the sender's slice. */
  readonly source: BufferView<T>
  /** The position of the transposed tile in the receiver's slice. */
  readonly target: BufferView<T>
  /** The maximum number of parts, divided by rows, in which the tile is sent. */
  readonly parts: number
}

/**
 * The number of workgroups of a device that pack tiles, and of those that transpose them, while messages are
 * in flight. NCCL needs 16 or 32 whole multiprocessors of an H200's 132, and memory bandwidth, so passes that
 * fill the device slow down its messages. Of 32, 48 and 64 workgroups, 64 were the fastest on two processes
 * and as fast as the others on four.
 */
const workgroupsBesideMessages = 64

/**
 * Records tiles that are messages. `meanwhile` records the work that does not wait for messages, with the
 * given number of workgroups for each block. Tiles that are sent in parts form a pipeline: while part k is in
 * flight, part k + 1 is packed and part k − 1 transposed by few workgroups, which leave multiprocessors and
 * memory bandwidth to the messages. No messages are in flight while the first part is packed and the last one
 * transposed, so these passes fill the device.
 */
export function recordMessages<T extends ElementType>(
  recorder: Recorder,
  kernel: TransposeKernel,
  type: T,
  tiles: readonly MessageTile<T>[],
  meanwhile: (workgroups?: number) => void,
): void {
  const touched = [...new Set(tiles.flatMap(({ sender, receiver }) => [sender, receiver]))].filter(
    (ordinal) => recorder.touches(ordinal),
  )
  /** The number of workgroups for each of the tiles that are sent to or from a device at the same time. */
  const share = (device: number, side: 'sender' | 'receiver') =>
    Math.ceil(workgroupsBesideMessages / tiles.filter((tile) => tile[side] === device).length)
  const moves = tiles.map(movesOf)
  const turns = Math.max(1, ...moves.map((parts) => parts.length))
  const each = (turn: number) => moves.flatMap((parts) => parts[turn] ?? [])
  if (turns === 1) {
    for (const { move } of each(0)) move()
    for (const { transpose } of each(0)) transpose(false)
    meanwhile()
    return
  }
  for (const { pack } of each(0)) pack(false)
  for (let turn = 0; turn < turns; turn++) {
    next()
    for (const { move } of each(turn)) move()
    if (turn === 0) meanwhile(workgroupsBesideMessages)
    else for (const { transpose } of each(turn - 1)) transpose(true)
    for (const { pack } of each(turn + 1)) pack(true)
  }
  for (const { transpose } of each(turns - 1)) transpose(false)

  function next(): void {
    for (const ordinal of touched) recorder.fence(ordinal)
  }

  /** The kernels that process each part of a tile. `beside`: while messages are in flight. */
  function movesOf({ name, sender, receiver, source, target, parts }: MessageTile<T>) {
    const { rows, columns } = source
    const arrival = recorder.scratch(receiver, type, [rows, columns], { label: `arrival of ${name}` })
    const whole = parts === 1 || rows === 1
    const packed = whole
      ? undefined
      : recorder.scratch(sender, type, [rows, columns], { label: `departure of ${name}` })
    return [...ranges(rows, Math.ceil(rows / parts))].map(({ first, count }, part) => {
      const label = whole ? name : `${name} part ${part}`
      const from = source.block(first, 0, count, columns)
      const dense = packed?.block(first, 0, count, columns)
      const arrived = arrival.block(first, 0, count, columns)
      const to = target.block(0, first, columns, count)
      return {
        pack(beside: boolean) {
          if (dense === undefined || !recorder.touches(sender)) return
          const { persistent } = kernel
          if (beside && persistent !== undefined) {
            const pass = { device: sender, source: from, target: dense, label: `pack ${label}` }
            dispatchPersistent(recorder, persistent, 'copy', pass, share(sender, 'sender'))
          } else recorder.copy(from, dense, { label: `pack ${label}` })
        },
        move() {
          recorder.copy(dense ?? from, arrived, { label: `copy ${label}` })
        },
        transpose(beside: boolean) {
          if (!recorder.touches(receiver)) return
          const workgroups = beside ? share(receiver, 'receiver') : undefined
          const pass = { device: receiver, source: arrived, target: to, label: `transpose ${label}` }
          dispatchTranspose(recorder, kernel, pass, workgroups)
        },
      }
    })
  }
}
