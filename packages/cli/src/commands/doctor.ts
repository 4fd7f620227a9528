import {
  type Absence,
  type Backend,
  counted,
  type DeviceGroup,
  isGpuError,
  openGroup,
  type Transport,
} from '@tandem-gpu/core'
import { openDeviceCommands } from '@tandem-gpu/core/backend'
import { type BackendName, backendsNamed } from '../backends.ts'
import type { CommandModule } from '../command.ts'
import { exitCode, failureOf } from '../exit-code.ts'
import { addBackendOption, addJsonOption } from '../group-options.ts'
import type { Job } from '../job.ts'
import { formatJson } from '../json.ts'
import { isNotInstalled, notInstalled } from '../not-installed.ts'
import { transportText } from '../report-text.ts'

interface Diagnosis {
  readonly name: string
  readonly works: boolean
  readonly adapters: readonly { readonly name: string; readonly software: boolean }[]
  /** The reason why the backend does not work. */
  readonly code?: string
  readonly reason?: string
  readonly remedy?: string
  /** The part of the backend that is missing. */
  readonly missing?: Absence['missing'] | 'compiler'
  readonly notes: readonly string[]
  /** Under mpirun: how processes exchange data through the backend, and why no faster transport works. */
  readonly transport?: Transport
  /** Present if the backend works. */
  readonly webgpuApi?: WebGpuApiDiagnosis
}

/**
 * Whether `createGPU` of `@tandem-gpu/webgpu-api` works on each device that was opened; otherwise, the reason
 * why it does not.
 */
interface WebGpuApiDiagnosis {
  readonly works: boolean
  readonly code?: string
  readonly reason?: string
}

export const command: CommandModule = {
  name: 'doctor',
  description: 'test each backend, and say what is missing if one does not work',
  examples: ['tandem doctor', 'tandem doctor --json'],
  documents: { doctor: '' },
  define(command, context) {
    addJsonOption(addBackendOption(command))
    command.action(async (options: { backend: BackendName; json?: boolean; job?: Job }) => {
      const diagnoses: Diagnosis[] = []
      const backends = backendsNamed(options.backend, options.job)
      const { progress } = context.terminal
      progress.start('Testing the backends', backends.length, 'backends')
      for (const backend of backends) {
        diagnoses.push(await examine(backend))
        progress.step(1)
      }
      if (!diagnoses.some(({ works }) => works)) context.exit = exitCode.noDevice
      const { colors, out } = context.terminal
      const mpi = await examineMpi()
      if (options.json) {
        out(
          formatJson('doctor', {
            node: process.version,
            platform: `${process.platform}-${process.arch}`,
            backends: diagnoses,
            mpi,
          }),
        )
        return
      }
      for (const { name, works, adapters, reason, remedy, notes, transport, webgpuApi } of diagnoses) {
        const found = [...new Set(adapters.map((adapter) => adapter.name))].join(', ')
        const verdict = works
          ? `${colors.green('works')}: ${counted(adapters.length, 'device')} (${found})`
          : `${colors.red('does not work')}: ${reason}`
        out(`${name} ${verdict}\n`)
        if (remedy !== undefined) out(`  What to do: ${remedy}\n`)
        if (transport !== undefined) out(`  Transport between the processes: ${transportText(transport)}\n`)
        if (webgpuApi?.works) out('  The WebGPU API (@tandem-gpu/webgpu-api) works on each of its devices.\n')
        else if (name !== 'cuda' && webgpuApi?.code === 'unsupported')
          out(
            '  The WebGPU API (@tandem-gpu/webgpu-api) does not run on this backend: it needs the CUDA backend, in a single process.\n',
          )
        else if (webgpuApi !== undefined)
          out(`  The WebGPU API (@tandem-gpu/webgpu-api) does not work on it: ${webgpuApi.reason}\n`)
        for (const note of notes) out(`  ${note}\n`)
      }
      out(
        mpi.works
          ? `mpi ${colors.green('loads')}: ${mpi.version} (${mpi.path}, interface of ${mpi.family})\n  ${mpi.job}\n  ${mpi.messages}\n`
          : `mpi ${colors.yellow('does not load')}, so programs run in one process: ${mpi.reason}\n`,
      )
      out(`\n${verdictOn(diagnoses)}\n`)
    })
  },
}

/**
 * One line about what can run here: `Ready: a software GPU, as any number of virtual devices. No CUDA: no
 * driver.`
 */
export function verdictOn(
  diagnoses: readonly Pick<Diagnosis, 'name' | 'works' | 'adapters' | 'code' | 'missing'>[],
): string {
  const working = diagnoses.filter(({ works }) => works)
  const hardware = working.flatMap(({ name, adapters }) => {
    const names = adapters.filter(({ software }) => !software).map((adapter) => adapter.name)
    return [...new Set(names)].map(
      (kind) => `${names.filter((one) => one === kind).length} × ${kind} (${name})`,
    )
  })
  const ready =
    hardware.length > 0
      ? `Ready: ${hardware.join(', ')}.`
      : working.length > 0
        ? 'Ready: a software GPU, which opens as any number of virtual devices.'
        : 'Not ready: no backend works.'
  const missing = diagnoses
    .filter(({ works }) => !works)
    .map(({ name, ...why }) => `No ${displayNames[name] ?? name}: ${shortReason(why)}.`)
  return [ready, ...missing].join(' ')
}

const displayNames: Readonly<Record<string, string>> = { cuda: 'CUDA', webgpu: 'WebGPU' }

function shortReason({ code, missing }: Pick<Diagnosis, 'code' | 'missing'>): string {
  if (missing === 'package') return 'its package is not installed'
  if (missing === 'addon') return 'its addon was not built'
  if (missing === 'compiler') return 'its compiler is missing'
  if (code === 'no-driver') return 'no driver'
  if (code === 'no-device') return 'no device'
  if (code === 'unsupported') return 'not supported here'
  return 'see above'
}

const mpiPackage = '@tandem-gpu/backend-mpi'

/**
 * The MPI with which a program would run over several processes. It is started only if a launcher has started
 * this process.
 */
export async function examineMpi(load = () => import('@tandem-gpu/backend-mpi')) {
  try {
    const { findMpi, mpiSession } = await load()
    const { library, launch } = findMpi()
    const { path, family, version } = library
    const gpuAware = launch === undefined ? library.gpuAware : (await mpiSession()).gpuAware?.supported
    const started =
      launch && `This process was started by ${launch.startedBy} as rank ${launch.rank} of ${launch.size}.`
    const direct = {
      true: 'This MPI accepts messages from GPU memory (gpu-aware)',
      false:
        'This MPI does not accept messages from GPU memory, which gpu-aware needs: it says that it was built or configured without CUDA',
      undefined: `${launch === undefined ? 'Before it is started, this MPI' : 'This MPI'} does not say whether it accepts messages from GPU memory (gpu-aware)`,
    }
    return {
      works: true as const,
      path,
      family,
      version,
      ...(gpuAware === undefined ? {} : { gpuAware }),
      job:
        started ??
        'This process was not started by mpirun; mpirun -n 4 tandem … runs a command in four processes.',
      messages: `${direct[`${gpuAware}`]}. Processes with one NVIDIA GPU each map each other's GPU memory (ipc, on one machine), or send messages from GPU to GPU through NCCL (nccl) or MPI (gpu-aware). If none of these works, messages go through host memory (staged).${launch ? '' : ' Under mpirun, doctor says which one is used, and why.'}`,
    }
  } catch (error) {
    const reason = isNotInstalled(error, mpiPackage)
      ? Object.values(notInstalled(mpiPackage)).join(' ')
      : error instanceof Error
        ? error.message
        : String(error)
    return { works: false as const, reason }
  }
}

/** A backend works if a kernel on one of its devices computes the right numbers. */
async function examine(backend: Backend): Promise<Diagnosis> {
  const report = await backend.adapters().catch((error: unknown) => failureOf(error))
  if ('exit' in report) {
    return {
      name: backend.name,
      works: false,
      adapters: [],
      notes: [],
      code: report.code,
      reason: report.message,
    }
  }
  const { adapters, absence, notes = [] } = report
  const found = {
    name: backend.name,
    adapters: adapters.map(({ name, software }) => ({ name, software })),
    notes,
  }
  if (adapters.length === 0) {
    return {
      ...found,
      works: false,
      code: 'no-device',
      reason: 'It found no device.',
      ...absence,
    }
  }
  try {
    const group = await openGroup({ backends: [backend], label: backend.name })
    const { transport } = group
    try {
      try {
        await squareNumbers(group)
      } catch (error) {
        // The group opened, so only a compiler of kernels can be missing.
        if (!isGpuError(error, 'unsupported')) throw error
        return { ...found, works: false, code: error.code, reason: error.message, missing: 'compiler' }
      }
      const webgpuApi = await examineWebGpuApi(group)
      return { ...found, works: true, ...(transport && { transport }), webgpuApi }
    } finally {
      await group.destroy()
    }
  } catch (error) {
    const { code, message } = failureOf(error)
    return { ...found, works: false, code, reason: message }
  }
}

/** The API works on a device if a command queue can be opened on it and completes its work. */
export async function examineWebGpuApi(group: DeviceGroup): Promise<WebGpuApiDiagnosis> {
  try {
    for (const device of group.devices.filter(({ local }) => local)) {
      const commands = openDeviceCommands(device, {
        label: 'doctor',
        onMessage: () => {},
        flush: () => {},
      })
      try {
        await commands.fence()
      } finally {
        await commands.close()
      }
    }
    return { works: true }
  } catch (error) {
    const { code, message } = failureOf(error)
    return { works: false, code, reason: message }
  }
}

const squareKernel = /* wgsl */ `
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

@compute @workgroup_size(64)
fn square(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&numbers)) { numbers[id.x] = numbers[id.x] * numbers[id.x]; }
}
`

async function squareNumbers(group: DeviceGroup): Promise<void> {
  const count = 1000
  const numbers = await group.devices[0]!.allocate('u32', count, { label: 'numbers' })
  const kernel = await group.compile({ label: 'square', wgsl: squareKernel })
  await group.queue.write(
    numbers,
    new Uint32Array(count).map((_, i) => i),
  )
  const program = group.record((r) =>
    r.dispatch(kernel, { workgroups: Math.ceil(count / 64), args: { numbers } }),
  )
  await group.queue.run(program)
  const squares = await group.queue.read(numbers)
  const wrong = squares.findIndex((value, i) => value !== i * i)
  if (wrong !== -1) throw new Error(`A test kernel computed ${squares[wrong]} for ${wrong} squared.`)
  program.destroy()
  kernel.destroy()
  numbers.destroy()
}
