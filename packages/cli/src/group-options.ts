import type { TransportName } from '@tandem-gpu/backend-mpi'
import {
  type Adapter,
  type DeviceGroup,
  type OpenGroupOptions,
  openGroup,
  type SelectBy,
  selectAdapters,
  selectBy,
} from '@tandem-gpu/core'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type BackendName, backendNames, backendsNamed } from './backends.ts'
import { UsageError } from './exit-code.ts'
import { refuseIdleOptions } from './idle-options.ts'
import { type Job, rankTransports } from './job.ts'
import { printable } from './printable.ts'
import { isBeyondNumbers, parseBytes, parseCount } from './quantity.ts'

/** The options that choose devices. */
export interface GroupOptions {
  readonly backend: BackendName
  readonly devices?: number | undefined
  /** Ids of the devices to use, as `select` prints them. */
  readonly device?: readonly string[] | undefined
  readonly verbose?: boolean | undefined
  readonly by: SelectBy
  readonly virtual?: boolean | undefined
  readonly rankTransport?: TransportName | undefined
  /** Set for every command if mpirun has started this process. */
  readonly job?: Job | undefined
}

/**
 * The largest number of devices that a command opens. Each virtual device takes memory and time, and no
 * machine has more GPUs.
 */
export const mostDevices = 1024

/** Parses a whole number from `minimum` to `maximum`; `1e6` and `64Ki` are whole numbers too. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : parseCount(text)
    if (value === undefined ? isBeyondNumbers(text) : value > maximum) {
      throw new InvalidArgumentError(`It must be at most ${maximum}.`)
    }
    if (value === undefined || value < minimum) {
      throw new InvalidArgumentError(
        maximum < Number.MAX_SAFE_INTEGER
          ? `It must be a whole number from ${minimum} to ${maximum}.`
          : `It must be a whole number of at least ${minimum}, such as 150000, 1e6 or 64Ki.`,
      )
    }
    return value
  }
}

export function byteCount(text: string): number {
  const byteLength = parseBytes(text)
  if (byteLength === undefined || byteLength === 0) {
    throw new InvalidArgumentError('It must be a number of bytes above 0, such as 150000, 64M or 1.5GiB.')
  }
  return byteLength
}

export function finiteNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print one JSON document instead of text')
}

export function addBackendOption(command: Command): Command {
  return command.addOption(
    new Option('--backend <name>', 'the backend to use')
      .choices(backendNames)
      .default('auto')
      .env('TANDEM_BACKEND'),
  )
}

export interface DevicesOption {
  /** If false, the command uses one device. */
  readonly count?: boolean
  /** What the command opens on a software GPU if the user says nothing else. */
  readonly software?: string | undefined
}

export function addGroupOptions(
  command: Command,
  { count = true, software = 'one software device' }: DevicesOption = {},
): Command {
  addSelectionOptions(command)
  if (!count) return command
  return command.option(
    '--devices <n>',
    `number of devices, at most ${mostDevices} (default: every GPU found, or ${software})`,
    wholeNumber(1, mostDevices),
  )
}

/**
 * The number of devices that a command opens: that of `--devices`, else `virtual` on a software GPU. Undefined
 * means every GPU, and one device in each process of a job.
 */
export async function devicesOf(options: GroupOptions, virtual: number): Promise<number | undefined> {
  if (options.devices !== undefined || options.job !== undefined) return options.devices
  const { chosen } = await selectAdapters(openGroupOptions(options))
  return chosen.every(({ software }) => software) ? virtual : undefined
}

/** `--by`, with its default. */
export function byOption(usual: SelectBy): Option {
  return new Option(
    '--by <reading>',
    'how to rank the devices: in their order (index), by one sensor, or by all of them (score)',
  )
    .choices(selectBy)
    .default(usual)
}

/** `addGroupOptions` without the number of devices. */
export function addSelectionOptions(command: Command): Command {
  refuseIdleOptions(command, [
    {
      option: 'rankTransport',
      when: ({ job }) => job === undefined,
      because:
        '--rank-transport is for several processes, but this process was not started by an MPI launcher: start the command with mpirun.',
    },
  ])
  return addBackendOption(command)
    .addOption(byOption('index'))
    .option('--virtual', 'open a GPU several times if there are fewer than --devices')
    .addOption(
      new Option(
        '--rank-transport <name>',
        'how the processes of mpirun exchange data (default: auto, the fastest way that works)',
      )
        .choices(rankTransports)
        .env('TANDEM_RANK_TRANSPORT'),
    )
    .option(
      '--device <id>',
      'use the device with this id, which tandem select prints; may be given several times',
      (id: string, ids: readonly string[] = []) => [...ids, id],
    )
}

export function openGroupOptions(options: GroupOptions): OpenGroupOptions {
  const { device } = options
  return {
    backends: backendsNamed(options.backend, options.job, options.virtual, options.rankTransport),
    by: options.by,
    adapters: device && (({ id }: Adapter) => device.includes(id)),
    devices: options.devices,
    virtual: options.virtual,
  }
}

/** Opens the devices, calls `body`, and closes the devices even if it throws. */
export async function withGroup<T>(
  options: GroupOptions,
  body: (group: DeviceGroup) => Promise<T>,
): Promise<T> {
  await requireDeviceIds(options)
  const group = await openGroup(openGroupOptions(options))
  try {
    requireDevices(options, group)
    return await body(group)
  } finally {
    await group.destroy()
  }
}

/**
 * Throws if a requested id matches no device. If there are no devices at all, opening the group reports why.
 */
export async function requireDeviceIds({ device: wanted = [], backend, job }: GroupOptions): Promise<void> {
  if (wanted.length === 0 || job !== undefined) return
  const ids: string[] = []
  for (const named of backendsNamed(backend))
    for (const { id } of (await named.adapters()).adapters) ids.push(id)
  const missing = wanted.find((id) => !ids.includes(id))
  if (missing !== undefined && ids.length > 0)
    throw new UsageError(`No device has the id ${printable(missing)}; the ids are ${ids.join(', ')}.`)
}

/** Throws if the user gives an id that does not belong to one of the devices in use. */
function requireDevices({ device = [] }: GroupOptions, { selection }: DeviceGroup): void {
  const missing = device.find((id) => !selection.ranked.some(({ adapter }) => adapter.id === id))
  if (missing !== undefined)
    throw new UsageError(
      `No device of the backend has the id ${printable(missing)}; tandem select --count 1 --explain lists the ids.`,
    )
}
