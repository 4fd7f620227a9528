import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { endianness, hostname } from 'node:os'
import { isMainThread } from 'node:worker_threads'
import { GpuError, type GpuErrorCode, isGpuError } from '@tandem-gpu/core'
import type { RankMessage } from '@tandem-gpu/core/backend'
import { endWithJob } from './end-with-job.ts'
import { detectLaunch, type Launch } from './launcher.ts'
import { installationRemedy, libraryCandidates } from './libraries.ts'
import { MutualWaits, type WaitReport } from './mutual-waits.ts'
import {
  addonError,
  type GpuSupport,
  type MpiLibrary,
  type NativeAddon,
  nativeAddon,
  settled,
  toGpuError,
} from './native-addon.ts'
import { Opening } from './opening.ts'

/** What a rank tells the others about itself when the job starts. */
export interface RankInfo {
  readonly rank: number
  readonly host: string
  /** Ranks with the same value share memory and devices. */
  readonly machine: string
  readonly process: number
  readonly version: string
  readonly endianness: string
  /** Where rank 0 accepts connections, and the secret with which they begin. */
  readonly listens?: { readonly port: number; readonly addresses: readonly string[]; readonly token: string }
}

/** The group number of the session's own gathers. */
const sessionGroup = 0

/**
 * How long two ranks wait for each other before the wait is reported. One rank may compute that long between
 * two calls, but if both wait, neither computes.
 */
const mutualWaitMilliseconds = 20_000

/** MPI in this process: it is started once, by the first call that needs it, and ends with the process. */
export class MpiSession {
  readonly addon: NativeAddon
  readonly library: MpiLibrary
  readonly launch: Launch | undefined
  readonly rank: number
  readonly ranks: readonly RankInfo[]
  /** Absent if the library does not report it. */
  readonly gpuAware: GpuSupport | undefined
  readonly #lost = new Map<number, (code: GpuErrorCode, message: string) => void>()
  readonly #waits = new MutualWaits(mutualWaitMilliseconds)
  #failure: GpuError | undefined
  #keys: number
  #openings = 1

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
    this.#keys = usedKeys
    this.gpuAware = gpuAware
    if (ranks.length > 1) setInterval(() => this.#sayWaiting(), mutualWaitMilliseconds / 4).unref()
  }

  /** Why the job cannot continue, once a rank is lost. */
  get failure(): GpuError | undefined {
    return this.#failure
  }

  /** The number of ranks on this rank's machine. */
  get ranksOnMachine(): number {
    const { machine } = this.ranks[this.rank]!
    return this.ranks.filter((other) => other.machine === machine).length
  }

  nameOf(rank: number): string {
    return rankName(this.ranks[rank]!)
  }

  /**
   * Resolves on every rank to the messages of all ranks, each once, by rank. All ranks make these calls in
   * the same order.
   */
  gather(message: string): Promise<readonly RankMessage[]> {
    return this.gatherIn(sessionGroup, this.#keys++, message, 'speaks with all ranks')
  }

  /**
   * The same under a key of a group. `what` describes the call in messages, where it follows the name of a
   * rank.
   */
  gatherIn(
    group: number,
    key: number,
    message: string,
    what: string,
    number?: number,
    takesTurn?: boolean,
  ): Promise<readonly RankMessage[]> {
    const answer = settled(this.addon.gather(group, key, message, number, takesTurn))
    return this.#waits.call(group, key, what, answer)
  }

  /** Records a gather that native code makes. */
  noteGather<T>(group: number, key: number, what: string, answer: Promise<T>): Promise<T> {
    return this.#waits.call(group, key, what, answer)
  }

  /** Until `run` ends, this rank does not count as late for any call of the group. */
  noteRun(group: number, run: Promise<unknown>): void {
    this.#waits.works(group, run)
  }

  /** Called when the group makes no more calls. */
  forget(group: number): void {
    this.#waits.forget(group)
  }

  newOpening(): Opening {
    return new Opening(this, this.#openings++)
  }

  /** `lost` is called when a rank cannot continue with the group. */
  watchGroup(group: number, lost: (code: GpuErrorCode, message: string) => void): void {
    this.#lost.set(group, lost)
  }

  endGroup(group: number): void {
    this.#lost.delete(group)
    this.forget(group)
  }

  /**
   * Handles the report of another rank that has waited too long. If that rank and this one wait for each
   * other, neither call can complete.
   */
  heardWaiting(rank: number, text: string): void {
    const conflict = this.#waits.conflict(JSON.parse(text) as WaitReport)
    if (conflict === undefined) return
    const { own, other } = conflict
    const message = `The ranks made different calls and wait for each other: ${this.nameOf(this.rank)} ${own.what}, and ${this.nameOf(rank)} ${other.what}. Every rank must make the same calls in the same order.`
    for (const { group } of [own, other]) this.addon.leave(group, 'validation', message)
    // The waiting calls reject first, with this error.
    setTimeout(() => this.lose(own.group, 'validation', message), 100)
  }

  #sayWaiting(): void {
    const report = this.#waits.report()
    if (report !== undefined && this.#failure === undefined) this.addon.sayWaiting(JSON.stringify(report))
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

/**
 * The session of this process. Rejects with `no-driver`, `unsupported` or `device-lost`; every call then
 * rejects with the same error.
 */
export function mpiSession(libraries?: readonly string[]): Promise<MpiSession> {
  started ??= startSession(libraries)
  return started
}

/**
 * The error with which this process failed to join its job; undefined if it has joined or has not tried to.
 */
export async function joinFailure(): Promise<unknown> {
  return started?.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** The MPI that a job would use, without starting it. Throws `no-driver` and `unsupported`. */
export function findMpi(): {
  readonly library: MpiLibrary
  readonly launch: Launch | undefined
} {
  const { library, launch } = openLibrary(undefined)
  return { library, launch }
}

function openLibrary(libraries: readonly string[] | undefined) {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addonError(addon)
  if (!isMainThread)
    throw new GpuError(
      'unsupported',
      'MPI runs only in the main thread of a process; this is a worker thread.',
    )
  // A launcher passes a process its rank in the environment. It is read before MPI starts, because it
  // determines which library to load.
  const launch = detectLaunch(process.env)
  const candidates = [...(libraries ?? []), ...libraryCandidates(launch?.family)]
  let library: MpiLibrary
  try {
    library = addon.describeLibrary(candidates)
  } catch (error) {
    const started = launch === undefined ? '' : `This process was started by ${launch.startedBy}. `
    const { code, message } = toGpuError(error) as GpuError
    throw new GpuError(code, `${started}${message} ${installationRemedy(launch?.family)}`, { cause: error })
  }
  const { family } = library
  if (launch?.family !== undefined && family !== 'the MPI 5 ABI' && family !== launch.family)
    throw new GpuError(
      'unsupported',
      `This process was started by ${launch.startedBy}, but the library that was loaded belongs to ${family} (${library.path}). ${installationRemedy(launch.family)}`,
    )
  return { addon, library, launch, candidates }
}

async function startSession(libraries: readonly string[] | undefined): Promise<MpiSession> {
  const { addon, library, launch, candidates } = openLibrary(libraries)
  let session: MpiSession | undefined
  try {
    const { rank, size, gpuAware } = await saidWhenLate(
      launch,
      addon.start(
        candidates,
        (group, code, message) => session?.lose(group, code, message),
        (rank, text) => session?.heardWaiting(rank, text),
      ),
    )
    // From here on, the process must notify the others when it ends.
    endWithJob(addon, rank, () => session?.failure !== undefined)
    if (launch !== undefined && launch.size !== size)
      throw new GpuError(
        'unsupported',
        `This process was started by ${launch.startedBy} as one of ${launch.size}, but ${library.family} (${library.path}) found ${size}: ` +
          "the launcher and the library belong to different MPIs, or the launcher's variables are left over in the environment. Start the job with the launcher of the same MPI (on Debian, mpirun.openmpi or mpirun.mpich), or unset the variables.",
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

/** MPI starts only after every rank has initialised it, and does not report which ranks are missing. */
function saidWhenLate<T>(launch: Launch | undefined, start: Promise<T>): Promise<T> {
  if (launch === undefined || launch.size === 1) return start
  const sayIt = () =>
    console.error(
      `tandem: rank ${launch.rank} of ${launch.size} has waited 5 s for other ranks to join; MPI starts once all have joined.`,
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
      // Open MPI's launcher reports a rank that dies and ends the job within about a second, so a second
      // report is not needed.
      deathDelayMilliseconds: launch?.family === 'Open MPI' ? 2000 : 0,
    })
    .then(
      () => '',
      (caught: unknown) => {
        const error = toGpuError(caught) as Error
        return JSON.stringify([isGpuError(error) ? error.code : 'driver', error.message])
      },
    )
  // All ranks gather the problem, because a rank that cannot watch others cannot be reached by them either.
  const problems = (await gatherOf(addon, key, problem)).flatMap(({ message }) =>
    message === '' ? [] : [JSON.parse(message) as [GpuErrorCode, string]],
  )
  const [code, reason] = problems.find(([code]) => code !== 'device-lost') ?? problems[0] ?? []
  if (code !== undefined) throw new GpuError(code, `The ranks cannot watch each other. ${reason}`)
}

/** Throws `unsupported` if the ranks run incompatible builds. */
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

/**
 * The host, boot and network namespace: containers and namespaces of one machine count as separate machines.
 */
function machineName(): string {
  const parts = [hostname()]
  try {
    parts.push(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
    parts.push(readlinkSync('/proc/self/ns/net'))
  } catch {
    // This is not Linux, or /proc is not mounted, so the host's name must suffice.
  }
  return parts.join(' ')
}

function packageVersion(): string {
  const require = createRequire(import.meta.url)
  return (require('../package.json') as { version: string }).version
}

function gatherOf(addon: NativeAddon, key: number, message: string): Promise<readonly RankMessage[]> {
  return settled(addon.gather(sessionGroup, key, message))
}
