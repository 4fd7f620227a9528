import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { endianness, hostname } from 'node:os'
import { isMainThread } from 'node:worker_threads'
import { GpuError, type GpuErrorCode, type RankMessage } from '@tandem-gpu/core'
import { endWithJob } from './end-with-job.ts'
import { detectLaunch, type Launch } from './launcher.ts'
import { installationRemedy, libraryCandidates } from './libraries.ts'
import {
  addonError,
  type GpuSupport,
  type MpiLibrary,
  type NativeAddon,
  nativeAddon,
  toGpuError,
} from './native-addon.ts'

/** What a rank says of itself when the job starts. */
export interface RankInfo {
  readonly rank: number
  readonly host: string
  /** Ranks with the same value share memory and devices. */
  readonly machine: string
  readonly process: number
  readonly version: string
  readonly endianness: string
  /** Where rank 0 takes connections, and the secret that they begin with. */
  readonly listens?: { readonly port: number; readonly addresses: readonly string[]; readonly token: string }
}

/** Number of the gathers that belong to no group: those of the session itself. */
const sessionGroup = 0

/** MPI in this process: it is started once, with the first call that needs it, and ended with the process. */
export class MpiSession {
  readonly addon: NativeAddon
  readonly library: MpiLibrary
  readonly launch: Launch | undefined
  readonly rank: number
  readonly ranks: readonly RankInfo[]
  /** Absent where the library does not say. */
  readonly gpuAware: GpuSupport | undefined
  readonly #lost = new Map<number, (code: GpuErrorCode, message: string) => void>()
  #failure: GpuError | undefined
  readonly #usedKeys: number
  #adapterKeys = 0
  #keys = 0
  #groups = sessionGroup + 1
  /** Settles when the group that was opened last is open, or is refused. */
  #opened: Promise<unknown> = Promise.resolve()

  constructor(
    addon: NativeAddon,
    library: MpiLibrary,
    launch: Launch | undefined,
    ranks: readonly RankInfo[],
    rank: number,
    usedKeys: number,
    gpuAware: GpuSupport | undefined,
  ) {
    this.addon = addon
    this.library = library
    this.launch = launch
    this.ranks = ranks
    this.rank = rank
    this.#usedKeys = usedKeys
    this.gpuAware = gpuAware
  }

  /** Why the job cannot go on, once a rank is lost. */
  get failure(): GpuError | undefined {
    return this.#failure
  }

  /** Ranks on this rank's machine. */
  get ranksOnMachine(): number {
    const { machine } = this.ranks[this.rank]!
    return this.ranks.filter((other) => other.machine === machine).length
  }

  nameOf(rank: number): string {
    return rankName(this.ranks[rank]!)
  }

  /** Reserves the place of a gather whose message comes later. All ranks take keys in the same order. */
  takeKey(): number {
    return this.#usedKeys + 2 * this.#keys++
  }

  /** The same for a gather of adapters. These have keys of their own, because they begin while groups are being opened. */
  takeAdapterKey(): number {
    return this.#usedKeys + 2 * this.#adapterKeys++ + 1
  }

  /** Opens a group once those before it are open: while one is opened, the ranks take several keys and numbers of groups, and must take the same. */
  openInTurn<T>(open: () => Promise<T>): Promise<T> {
    const opened = this.#opened.then(open)
    this.#opened = opened.catch(() => {})
    return opened
  }

  /** Gives to every rank what all ranks say, each message once, by rank. */
  async gather(message: string, key = this.takeKey()): Promise<readonly RankMessage[]> {
    return gatherOf(this.addon, key, message)
  }

  /** A number for a new group, the same on all ranks. `lost` is called when a rank cannot go on with it. */
  newGroup(lost: (code: GpuErrorCode, message: string) => void): number {
    const group = this.#groups++
    this.#lost.set(group, lost)
    return group
  }

  endGroup(group: number): void {
    this.#lost.delete(group)
  }

  lose(group: number | undefined, code: GpuErrorCode, message: string): void {
    if (group !== undefined) {
      this.#lost.get(group)?.(code, message)
      return
    }
    this.#failure ??= new GpuError(code, message)
    for (const lost of this.#lost.values()) lost(code, message)
  }
}

let started: Promise<MpiSession> | undefined

/** The session of this process. Rejects with `no-driver`, `unsupported` or `device-lost`, the same way at each call. */
export function mpiSession(libraries?: readonly string[]): Promise<MpiSession> {
  started ??= startSession(libraries)
  return started
}

/** The MPI that a job would use, without starting it. Throws `no-driver` and `unsupported`. */
export function findMpi(libraries?: readonly string[]): {
  readonly library: MpiLibrary
  readonly launch: Launch | undefined
} {
  const { library, launch } = openLibrary(libraries)
  return { library, launch }
}

function openLibrary(libraries: readonly string[] | undefined) {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addonError(addon)
  if (!isMainThread)
    throw new GpuError(
      'unsupported',
      'MPI runs in the main thread of a process alone; this is a worker thread.',
    )
  // A launcher tells a process its rank in the environment: MPI has no other way, and needs it to know which library fits.
  const launch = detectLaunch(process.env)
  const candidates = [...(libraries ?? []), ...libraryCandidates(launch?.family)]
  let library: MpiLibrary
  try {
    library = addon.describeLibrary(candidates)
  } catch (error) {
    const started = launch === undefined ? '' : `This process was started by ${launch.launcher}. `
    const { code, message } = toGpuError(error) as GpuError
    throw new GpuError(code, `${started}${message} ${installationRemedy(launch?.family)}`, { cause: error })
  }
  const { family } = library
  if (launch?.family !== undefined && family !== 'the MPI 5 ABI' && family !== launch.family)
    throw new GpuError(
      'unsupported',
      `This process was started by ${launch.launcher}, but the library that loads is ${family}'s (${library.path}). ${installationRemedy(launch.family)}`,
    )
  return { addon, library, launch, candidates }
}

async function startSession(libraries: readonly string[] | undefined): Promise<MpiSession> {
  const { addon, library, launch, candidates } = openLibrary(libraries)
  let session: MpiSession | undefined
  try {
    const { rank, size, gpuAware } = await saidWhenLate(
      launch,
      addon.start(candidates, (group, code, message) => session?.lose(group, code, message)),
    )
    // From here on the process may not end without a word to the others.
    endWithJob(addon, rank, () => session?.failure !== undefined)
    if (launch !== undefined && launch.size !== size)
      throw new GpuError(
        'unsupported',
        `This process was started by ${launch.launcher} as one of ${launch.size}, but ${library.family} (${library.path}) finds ${size}: ` +
          'the launcher belongs to another MPI than the library. Start the job with the launcher of the same MPI (on Debian mpirun.openmpi or mpirun.mpich).',
      )
    let key = 0
    const token = randomBytes(16).toString('hex')
    const own: RankInfo = {
      rank,
      host: hostname(),
      machine: machineName(),
      process: process.pid,
      version: packageVersion(),
      endianness: endianness(),
      ...(rank === 0 && size > 1 && { listens: { ...addon.listen(), token } }),
    }
    const ranks = (await gatherOf(addon, key++, JSON.stringify(own))).map(
      ({ message }) => JSON.parse(message) as RankInfo,
    )
    requireSameBuild(ranks)
    if (size > 1) await watchRanks(addon, ranks, launch, key++)
    session = new MpiSession(addon, library, launch, ranks, rank, key, gpuAware)
    return session
  } catch (error) {
    throw toGpuError(error)
  }
}

/** MPI starts once every rank has asked for it; which one does not, it cannot say. */
function saidWhenLate<T>(launch: Launch | undefined, start: Promise<T>): Promise<T> {
  if (launch === undefined || launch.size === 1) return start
  const sayIt = () =>
    console.error(
      `tandem: rank ${launch.rank} of ${launch.size} has waited 5 s for other ranks to join: MPI starts once all have.`,
    )
  const timer = setTimeout(sayIt, 5000)
  return start.finally(() => clearTimeout(timer))
}

async function watchRanks(
  addon: NativeAddon,
  ranks: readonly RankInfo[],
  launch: Launch | undefined,
  key: number,
): Promise<void> {
  const { addresses, port, token } = ranks[0]!.listens!
  const problem = await addon
    .watch({
      names: ranks.map(rankName),
      token,
      addresses,
      port,
      // Open MPI's launcher names a rank that dies, and ends the job in about a second: one line is enough.
      deathDelayMilliseconds: launch?.family === 'Open MPI' ? 2000 : 0,
    })
    .then(
      () => '',
      (error: Error) => error.message,
    )
  const problems = (await gatherOf(addon, key, problem)).filter(({ message }) => message !== '')
  if (problems.length > 0)
    throw new GpuError('device-lost', `The ranks cannot watch each other. ${problems[0]!.message}`)
}

/** Throws `unsupported` where ranks could not understand each other. */
export function requireSameBuild(ranks: readonly RankInfo[]): void {
  const first = ranks[0]!
  for (const other of ranks) {
    if (other.version !== first.version)
      throw new GpuError(
        'unsupported',
        `The ranks run different versions of Tandem: ${rankName(first)} has ${first.version}, ${rankName(other)} has ${other.version}. Install the same version on every host.`,
      )
    if (other.endianness !== first.endianness)
      throw new GpuError(
        'unsupported',
        `The ranks have different byte orders: ${rankName(first)} is ${first.endianness}, ${rankName(other)} is ${other.endianness}.`,
      )
  }
}

function rankName({ rank, process, host }: RankInfo): string {
  return `rank ${rank} (process ${process} on ${host})`
}

/** Host, boot and network namespace: containers and namespaces of one machine are machines of their own here. */
function machineName(): string {
  const parts = [hostname()]
  try {
    parts.push(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
    parts.push(readlinkSync('/proc/self/ns/net'))
  } catch {
    // Not on Linux, or /proc is not mounted: the host's name has to do.
  }
  return parts.join(' ')
}

function packageVersion(): string {
  const require = createRequire(import.meta.url)
  return (require('../package.json') as { version: string }).version
}

async function gatherOf(addon: NativeAddon, key: number, message: string): Promise<readonly RankMessage[]> {
  try {
    return await addon.gather(sessionGroup, key, message)
  } catch (error) {
    throw toGpuError(error)
  }
}
