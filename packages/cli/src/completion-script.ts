import type { RootCommand } from '@bomb.sh/tab'

/**
 * The completion script of the command for a shell. The library prints it, and for bash it declares
 * constants, of which a shell complains that reads the script for the second time; here they are variables.
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
