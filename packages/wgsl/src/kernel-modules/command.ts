import { existsSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { WgslError } from '../wgsl-error.ts'
import { kernelModule } from './kernel-module.ts'

const help = `usage: tandem-wgsl [options] [files and folders]

Writes a TypeScript module x.wgsl.ts next to each x.wgsl. Folders are searched with all their subfolders except node_modules and dist; the
default is the current folder. A module exports a kernel source for group.compile() for each compute entry point, with the types of its arguments.

  --check   write nothing; exit with 1 if a module is missing or does not match its .wgsl file (for CI)
  --watch   keep running, and write again whenever a .wgsl file changes, until the process is interrupted
  --help    print this

Files that end in .part.wgsl are left out, because they are parts of a source and not whole modules.

examples:
  tandem-wgsl src
  tandem-wgsl --check src
  tandem-wgsl --watch src/kernels

https://github.com/tandem-gpu/tandem/tree/main/docs/guides/typed-kernels.md
`

export interface Output {
  readonly out: (text: string) => void
  readonly error: (text: string) => void
}

export interface CommandOptions {
  /** Ends a watch. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `tandem-wgsl` and returns its exit code: 0, 1 for WGSL that does not compile or a failed check, 2 for
 * wrong arguments.
 */
export async function main(
  argv: readonly string[],
  output: Output,
  { signal }: CommandOptions = {},
): Promise<0 | 1 | 2> {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(argv)
  } catch (error) {
    output.error(`tandem-wgsl: ${(error as Error).message}\n`)
    return 2
  }
  const { values, positionals } = parsed
  if (values.help) {
    output.out(help)
    return 0
  }
  const roots = positionals.length === 0 ? ['.'] : positionals
  const missing = roots.find((root) => !existsSync(root))
  const problem =
    missing !== undefined
      ? `${missing} cannot be read: no such file or folder.`
      : values.check && values.watch
        ? '--check and --watch cannot be combined.'
        : undefined
  if (problem !== undefined) {
    output.error(`tandem-wgsl: ${problem}\n`)
    return 2
  }
  const files = roots.flatMap(kernelFiles)
  const failed = files.filter((file) => !update(file, values.check ?? false, output))
  if (!values.watch) return failed.length > 0 ? 1 : 0
  output.error(`tandem-wgsl: watching ${files.length} files.\n`)
  await watched(roots, output, signal)
  return 0
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { check: { type: 'boolean' }, watch: { type: 'boolean' }, help: { type: 'boolean' } },
  })
}

const isKernelFile = (name: string) => name.endsWith('.wgsl') && !name.endsWith('.part.wgsl')

function kernelFiles(root: string): string[] {
  if (!statSync(root).isDirectory()) return [root]
  return readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist' && !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(root, entry.name)
      return entry.isDirectory() ? kernelFiles(path) : isKernelFile(entry.name) ? [path] : []
    })
}

/** Writes or checks the module of one file, reports the outcome, and returns whether it succeeded. */
function update(file: string, check: boolean, output: Output): boolean {
  const target = `${file}.ts`
  const shown = relative('.', target)
  let text: string
  try {
    text = kernelModule(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), basename(file))
  } catch (error) {
    if (!(error instanceof WgslError)) throw error
    output.error(`tandem-wgsl: ${relative('.', file)} does not compile: ${error.message}\n`)
    return false
  }
  const present = existsSync(target) ? readFileSync(target, 'utf8') : undefined
  if (present === text) return true
  if (check) {
    const state = present === undefined ? 'is missing' : 'does not match its .wgsl file'
    output.error(`tandem-wgsl: ${shown} ${state}; run tandem-wgsl without --check.\n`)
    return false
  }
  writeFileSync(target, text)
  output.out(`${shown}\n`)
  return true
}

/** Editors write in several steps, so a file is read this long after its last change. */
const settleMilliseconds = 50

function watched(roots: readonly string[], output: Output, signal: AbortSignal | undefined): Promise<void> {
  const timers = new Map<string, NodeJS.Timeout>()
  const watchers = roots.map((root) =>
    watch(root, { recursive: true }, (_, name) => {
      const file = statSync(root, { throwIfNoEntry: false })?.isDirectory() ? join(root, String(name)) : root
      if (!isKernelFile(file)) return
      clearTimeout(timers.get(file))
      timers.set(
        file,
        setTimeout(() => {
          if (existsSync(file)) update(file, false, output)
        }, settleMilliseconds),
      )
    }),
  )
  return new Promise((resolve) => {
    const end = () => {
      for (const watcher of watchers) watcher.close()
      for (const timer of timers.values()) clearTimeout(timer)
      resolve()
    }
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
