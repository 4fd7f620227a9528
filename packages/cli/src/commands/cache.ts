import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { counted } from '@tandem-gpu/core'
import { type Command, Option } from 'commander'
import type { CommandContext, CommandModule } from '../command.ts'
import { addJsonOption } from '../group-options.ts'
import { formatJson } from '../json.ts'
import { formatBytes } from '../quantity.ts'
import { beginHandover } from '../terminal.ts'
import { TuningFolder } from '../tuning-folder.ts'

const parts = ['kernels', 'tuning'] as const
type Part = (typeof parts)[number]

interface CacheOptions {
  readonly clear?: Part | 'all'
  readonly json?: boolean
}

interface CacheFolder {
  readonly part: Part
  readonly path: string
  readonly files: number
  readonly byteLength: number
}

export const command: CommandModule = {
  name: 'cache',
  description: 'show what is stored between runs: compiled kernels and measured choices',
  examples: ['tandem cache', 'tandem cache --clear tuning'],
  documents: { cache: '' },
  define: (command, context) => defineCache(command, context),
}

/** `folder` is `tandem` in the user's cache folder; undefined if there is no home folder. */
export function defineCache(
  command: Command,
  context: Pick<CommandContext, 'terminal'>,
  folder = cacheFolder(),
): void {
  command.addOption(new Option('--clear <what>', 'remove these files first').choices([...parts, 'all']))
  addJsonOption(command)
  command.action(async (options: CacheOptions) => {
    // Files that were removed before the error stay removed.
    beginHandover(context.terminal)
    const folders: CacheFolder[] = []
    if (folder !== undefined)
      for (const part of parts) {
        const path = join(folder, part)
        if (options.clear === part || options.clear === 'all')
          await rm(path, { recursive: true, force: true })
        folders.push({ part, path, ...(await contents(path)) })
      }
    context.terminal.out(options.json ? formatJson('cache', { folders }) : asText(folders))
  })
}

function cacheFolder(): string | undefined {
  const { path } = new TuningFolder()
  return path === undefined ? undefined : dirname(path)
}

async function contents(path: string): Promise<{ files: number; byteLength: number }> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  // Another process may remove a file in the meantime.
  const sizes = await Promise.all(names.map((name) => stat(join(path, name)).catch(() => undefined)))
  return { files: names.length, byteLength: sizes.reduce((sum, file) => sum + (file?.size ?? 0), 0) }
}

function asText(folders: readonly CacheFolder[]): string {
  if (folders.length === 0) return 'There is no home folder, so nothing is stored.\n'
  const line = ({ part, path, files, byteLength }: CacheFolder) =>
    `${part.padEnd(8)} ${counted(files, 'file')}, ${formatBytes(byteLength)}  ${path}`
  return `${folders.map(line).join('\n')}\n`
}
