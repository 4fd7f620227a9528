import { relative } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import type { Plugin } from 'vite'

/** A file's code with one operator, condition or block changed. */
export interface Mutant {
  readonly id: string
  readonly replacement: string
  /** Lines and columns from 0. */
  readonly location: { readonly start: Position; readonly end: Position }
}

interface Position {
  readonly line: number
  readonly column: number
}

/**
 * The state, `globalThis.__stryker__`, that a mutated file shares with the code that activates its mutants;
 * the names are Stryker's.
 */
export interface MutantSwitches {
  activeMutant?: string
  currentTestId?: string
  /** How often the active mutant was reached, and the count at which it throws. */
  hitCount?: number
  hitLimit?: number
  /**
   * How often each test reached each mutant; `static` has those that were reached when the file was loaded.
   */
  mutantCoverage?: {
    readonly static: Readonly<Record<string, number>>
    readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
  isCovering?: boolean
  mutants?: readonly Mutant[]
}

/** Changes of literals would make thousands of mutants of little use. */
const excludedMutations = ['StringLiteral', 'ObjectLiteral', 'ArrayDeclaration', 'Regex', 'BooleanLiteral']

const nothing = () => {}
const no = () => false
const quiet = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  isTraceEnabled: no,
  isDebugEnabled: no,
  isInfoEnabled: no,
  isWarnEnabled: no,
  isErrorEnabled: no,
  isFatalEnabled: no,
}

/** Loads `file`, a path in `home`, with each of Stryker's mutants behind a switch. */
export function mutantSwitches(home: string, file: string | undefined): Plugin {
  return {
    name: 'mutant-switches',
    enforce: 'pre',
    async transform(code, path) {
      if (relative(home, path) !== file) return null
      const { files, mutants } = await new Instrumenter(quiet).instrument(
        [{ name: path, mutate: true, content: code }],
        { plugins: null, excludedMutations, ignorers: [] },
      )
      const list = mutants
        .filter(({ status }) => status !== 'Ignored')
        .map(({ id, replacement, location }) => ({ id, replacement, location }))
      // Coverage is counted once; mutants run without it.
      const counting = 'function cover() {'
      const { content } = files[0]!
      if (!content.includes(counting)) throw new Error('Stryker counts in another way than is known here')
      const switched = content.replace(counting, `${counting} if (ns.isCovering === false) return;`)
      return { code: `${switched}\nstryNS_9fa48().mutants = ${JSON.stringify(list)};\n`, map: null }
    },
  }
}
