import type { RootCommand } from '@bomb.sh/tab'

/**
 * The completion script of the command for a shell. The library's script for bash declares constants, and a
 * shell that reads it a second time reports errors; here, they become variables.
 */
export function completionScript(root: RootCommand, shell: string): string {
  const printed: unknown[] = []
  const { log } = console
  console.log = (text: unknown) => void printed.push(text)
  try {
    root.setup('tandem', 'tandem', shell)
  } finally {
    console.log = log
  }
  return `${printed.join('\n').replace(/^readonly (?=ShellComp)/gm, '')}\n`
}
