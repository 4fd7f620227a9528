import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuText } from '../../testing/cpu-text.ts'
import { isKept, removeUnused } from '../../testing/kept-files.ts'
import { isLong } from '../../testing/test-cases.ts'
import type { CudaKernel } from '../kernel.ts'

const native = fileURLToPath(new URL('../../../native', import.meta.url))
const header = join(native, 'tandem_cpu.hpp')
/** Where objects and programs are kept. */
export const cache = fileURLToPath(new URL('../../../.cache/cpu-kernels', import.meta.url))
const week = 7 * 86_400_000

/**
 * The number of kernels in one C++ file: several files compile in parallel, and many kernels share one start
 * of the compiler.
 */
const kernelsPerFile = 60

/** One run of a kernel: the parameters in order, a buffer's bytes for a pointer. */
export interface CpuJob {
  /** Index into the kernels of the program. */
  readonly kernel: number
  readonly grid: readonly [number, number, number]
  readonly parameters: readonly (bigint | Uint8Array)[]
}

/** The contents of a job's buffers after the run, or why it stopped. */
export type CpuResult = { readonly buffers: readonly Uint8Array[] } | { readonly failure: string }

function cpuFileText(kernels: readonly CudaKernel[], table: string): string {
  const section = (i: number) => `shared_${table}_${i}`
  const thunks = kernels.map((k, i) => {
    const list = k.parameters.map((p, j) => `*static_cast<${p.type.replace(' __restrict__', '')}*>(a[${j}])`)
    return `namespace wgsl { namespace k${i} { static void call(void* const* a) { (void)a; ${k.entryName}(${list.join(', ')}); } } }`
  })
  const rows = kernels.map(
    (k, i) =>
      `{"${k.entryName}", wgsl::k${i}::call, ${k.workgroupSize.join(', ')}, ${k.usesBarriers || k.usesSubgroups}, __start_${section(i)}, __stop_${section(i)}}`,
  )
  return [
    `#include "${header}"`,
    // Workgroup memory of a kernel is one section, so that it can be filled with garbage before each
    // workgroup.
    cpuText(kernels, (i) => `#undef TANDEM_SHARED_SECTION\n#define TANDEM_SHARED_SECTION "${section(i)}"\n`),
    ...kernels.map(
      (_, i) =>
        `extern "C" { extern char __start_${section(i)}[] __attribute__((weak)); extern char __stop_${section(i)}[] __attribute__((weak)); }`,
    ),
    ...thunks,
    `extern const tandem_cpu::kernel ${table}[] = {${rows.join(', ')}};`,
    '',
  ].join('\n')
}

/** A host program that contains many kernels. */
export interface CpuProgram {
  run(jobs: readonly CpuJob[]): Promise<CpuResult[]>
}

/**
 * Builds generated kernels for the CPU with `compiler`. Objects and programs are cached in the package's
 * `.cache` until they have not been used for a week.
 */
export async function buildCpuProgram(
  kernels: readonly CudaKernel[],
  options: { readonly compiler?: string; readonly parallel?: number } = {},
): Promise<CpuProgram> {
  const { compiler = 'g++', parallel = 2 } = options
  const files: string[] = []
  const counts: number[] = []
  for (let i = 0; i < kernels.length; i += kernelsPerFile) {
    const part = kernels.slice(i, i + kernelsPerFile)
    files.push(cpuFileText(part, `table${files.length}`))
    counts.push(part.length)
  }
  files.push(mainText(counts))
  // Most of the time is spent compiling. The long test enables the optimizer, which may exploit undefined
  // behaviour.
  const optimization = isLong ? '-O1' : '-O0'
  const flags = ['-std=c++17', optimization, '-w', '-fno-strict-aliasing', '-ffp-contract=off']
  // Undefined behaviour stops the kernel: overflow in arithmetic that was assumed exact, a divisor of 0, a
  // shift by 32.
  flags.push(
    '-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift',
    '-fsanitize-undefined-trap-on-error',
  )
  mkdirSync(cache, { recursive: true })
  removeUnused(cache, week)
  const salt = headerText() + flags.join(' ') + compiler
  const objects: string[] = []
  const work: (() => Promise<void>)[] = []
  for (const text of files) {
    const key = createHash('sha256').update(salt).update(text).digest('hex').slice(0, 24)
    const object = join(cache, `${key}.o`)
    objects.push(object)
    if (isKept(object)) continue
    work.push(async () => {
      // File names that are unique to this process, because others may compile the same file at the same
      // time.
      const source = join(cache, `${key}.${process.pid}.cpp`)
      const partial = join(cache, `${key}.${process.pid}.o`)
      writeFileSync(source, text)
      await run(compiler, [...flags, '-c', source, '-o', partial])
      renameSync(partial, object)
      rmSync(source)
    })
  }
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (let next = work.shift(); next !== undefined; next = work.shift()) await next()
    }),
  )
  const key = createHash('sha256').update(objects.join()).digest('hex').slice(0, 24)
  const program = join(cache, key)
  if (!isKept(program)) {
    await run(compiler, [...objects, '-o', `${program}.${process.pid}`])
    renameSync(`${program}.${process.pid}`, program)
  }
  return { run: (jobs) => runJobs(program, jobs) }
}

/** The text of the header and of all files that it includes. */
function headerText(): string {
  const parts = readdirSync(join(native, 'tandem_cpu')).sort()
  const files = [header, ...parts.map((name) => join(native, 'tandem_cpu', name))]
  return files.map((file) => readFileSync(file, 'utf8')).join('')
}

function mainText(counts: readonly number[]): string {
  return [
    `#include "${header}"`,
    ...counts.map((n, i) => `extern const tandem_cpu::kernel table${i}[${n}];`),
    'int main() {',
    '  tandem_cpu::list<tandem_cpu::kernel> all;',
    ...counts.map((_, i) => `  for (const auto& kernel : table${i}) all.add(kernel);`),
    '  return tandem_cpu::serve(all.items, (unsigned)all.count);',
    '}',
    '',
  ].join('\n')
}

async function run(command: string, args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(command, args, { maxBuffer: 64 << 20 })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(`${command} fails: ${stderr.slice(0, 4000)}`, { cause: error })
  }
}

async function runJobs(program: string, jobs: readonly CpuJob[]): Promise<CpuResult[]> {
  const input: Uint8Array[] = []
  const encoder = new TextEncoder()
  for (const job of jobs) {
    input.push(encoder.encode(`run ${job.kernel} ${job.grid.join(' ')} 20 ${job.parameters.length}\n`))
    for (const p of job.parameters) {
      if (typeof p === 'bigint') input.push(encoder.encode(`number ${p}\n`))
      else input.push(encoder.encode(`buffer ${p.byteLength}\n`), p)
    }
  }
  const output = await new Promise<Buffer>((resolve, reject) => {
    const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    const errors: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks))
      else reject(new Error(`the program ends with ${code}: ${Buffer.concat(errors).toString()}`))
    })
    child.stdin.on('error', reject)
    child.stdin.end(Buffer.concat(input))
  })
  let at = 0
  return jobs.map((job): CpuResult => {
    const end = output.indexOf(10, at)
    const line = output.subarray(at, end).toString()
    at = end + 1
    if (line !== 'ok') return { failure: line }
    const buffers = job.parameters.flatMap((p) => {
      if (typeof p === 'bigint') return []
      const bytes = new Uint8Array(output.subarray(at, at + p.byteLength))
      at += p.byteLength
      return [bytes]
    })
    return { buffers }
  })
}
