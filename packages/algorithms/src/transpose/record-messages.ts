import { type BufferView, type ElementType, type Recorder, ranges } from '@tandem-gpu/core'
import { dispatchPersistent, dispatchTranspose } from './dispatch-transpose.ts'
import type { TransposeKernel } from './transpose-kernels.ts'

/** A tile that is a message between processes. */
export interface MessageTile<T extends ElementType> {
  readonly name: string
  readonly sender: number
  readonly receiver: number
  /** Its position in the sender's slice. */
  readonly source: BufferView<T>
  /** The position of the transposed tile in the receiver's slice. */
  readonly target: BufferView<T>
  /** In how many parts of its rows it moves, or fewer where it has no more rows. */
  readonly parts: number
}

/**
 * Workgroups of a device that copy, and as many that transpose, beside messages. Of the 132 multiprocessors of an H200, NCCL takes 16 or 32. Transposes of 32768² f32
 * in two parts take 2.91 to 3.11 ms on four processes and 3.83 to 3.86 on two with 64 workgroups, 2.87 to 3.02 and 4.13 with 48, 2.86 and 4.78 with 32; with passes that fill the device 3.44 and 4.05.
 */
const workgroupsBesideMessages = 64

/**
 * Records tiles that are messages, and by `meanwhile` what need not wait for them, by so many workgroups a block. Tiles that move in parts take turns: while part k moves, part k + 1
 * is copied into dense memory and part k − 1 transposed, by few workgroups, so that they leave multiprocessors and memory to the messages. The copies of
 * the first part and the transposes of the last one, beside which nothing moves, fill the device.
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
  /** Of the workgroups, for each of the tiles that move at a time to or from a device. */
  const share = (device: number, side: 'sender' | 'receiver') =>
    Math.ceil(workgroupsBesideMessages / tiles.filter((tile) => tile[side] === device).length)
  const shares = new Map(
    touched.map((device) => [
      device,
      { sends: share(device, 'sender'), receives: share(device, 'receiver') },
    ]),
  )
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

  /** The kernels that move each part of a tile. `beside`: while messages are in flight. */
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
            const { sends } = shares.get(sender)!
            const pass = { device: sender, source: from, target: dense, label: `pack ${label}` }
            dispatchPersistent(recorder, persistent, 'copy', pass, sends)
          } else recorder.copy(from, dense, { label: `pack ${label}` })
        },
        move() {
          recorder.copy(dense ?? from, arrived, { label: `copy ${label}` })
        },
        transpose(beside: boolean) {
          if (!recorder.touches(receiver)) return
          const workgroups = beside ? shares.get(receiver)!.receives : undefined
          const pass = { device: receiver, source: arrived, target: to, label: `transpose ${label}` }
          dispatchTranspose(recorder, kernel, pass, workgroups)
        },
      }
    })
  }
}
