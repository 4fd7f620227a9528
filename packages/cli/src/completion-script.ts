import type { RootCommand } from '@bomb.sh/tab'
import type { Command } from 'commander'

/**
 * The completion script of the command for a shell. The library's script for bash declares constants, and a
 * shell that reads it a second time reports errors; here, they become variables. In bash, names of files are
 * completed unless the command says that none is expected, and the package bash-completion is not needed.
 */
export function completionScript(root: RootCommand, shell: string): string {
  const script = printedBy(() => root.setup('tandem', 'tandem', shell))
  return script
    .replace(/^readonly (?=ShellComp)/gm, '')
    .replace(/^ *_get_comp_words_by_ref .*$/m, wordsOfLine)
    .replace(/^complete -F/m, 'complete -o default -F')
}

/** `call` is a function of the package bash-completion. Without it, bash divides words at `=` and `:` too. */
const wordsOfLine = (call: string) => `    if declare -F _get_comp_words_by_ref > /dev/null; then
    ${call}
    else
        words=("\${COMP_WORDS[@]}")
        cword=$COMP_CWORD
        cur=\${COMP_WORDS[COMP_CWORD]}
    fi`

/** The values in the help that are names of files or folders. */
const fileValues = ['file', 'path', 'kernel.wgsl', 'name=file', 'name=source']

/**
 * What a completion script reads: a line for each word that may stand in place of the last of `words`, and a
 * number. The library's number forbids names of files; 0 allows them.
 */
export function suggestions(root: RootCommand, program: Command, words: readonly string[]): string {
  const expectsFile = isFileExpected(program, words)
  const found = printedBy(() => root.parse([...words]))
  return expectsFile && found === ':4\n' ? ':0\n' : found
}

function isFileExpected(program: Command, words: readonly string[]): boolean {
  const command = program.commands.find((one) => one.name() === words[0])
  if (command === undefined || words.length < 2) return false
  const [before, last] = [words.at(-2)!, words.at(-1)!]
  const option = command.options.find(({ long, short }) => before === long || before === short)
  const value = option && /<(.*)>/.exec(option.flags)?.[1]
  if (value !== undefined) return fileValues.includes(value)
  if (last.startsWith('-')) return false
  return command.registeredArguments.some((argument) => fileValues.includes(argument.name()))
}

/** The library prints on the console. */
function printedBy(print: () => void): string {
  const printed: unknown[] = []
  const { log } = console
  console.log = (text: unknown) => void printed.push(text)
  try {
    print()
  } finally {
    console.log = log
  }
  return printed.map((line) => `${line}\n`).join('')
}
