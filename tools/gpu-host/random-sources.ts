import { Random } from '../../packages/wgsl/src/testing/random.ts'
import { randomCollectives } from '../../packages/wgsl/src/testing/random-collectives.ts'
import { randomComposites } from '../../packages/wgsl/src/testing/random-composites.ts'
import { randomIdioms } from '../../packages/wgsl/src/testing/random-idioms.ts'
import { randomKernel } from '../../packages/wgsl/src/testing/random-kernel.ts'
import { randomLongFunctions } from '../../packages/wgsl/src/testing/random-long-functions.ts'
import { randomTeamFunctions } from '../../packages/wgsl/src/testing/random-team-functions.ts'

/** More frequent ones have small kernels. */
const generators = [
  ...[randomIdioms, randomIdioms, randomIdioms, randomIdioms],
  ...[randomKernel, randomKernel, randomKernel, randomComposites, randomComposites, randomComposites],
  ...[randomCollectives, randomCollectives, randomCollectives, randomLongFunctions, randomTeamFunctions],
]

/**
 * A random kernel of one of the generators, with its head; in half of the kernels the compilers do not know some of the
 * literals. The same seed produces the same kernel.
 */
export function randomSource(seed: number): { name: string; source: string } {
  const random = new Random(seed)
  const generator = random.pick(generators)
  const written = generator(seed)
  // The head of `randomKernel` leaves out a buffer that it does not compare; with an element for each invocation its
  // contents are the same on all implementations.
  const whole =
    generator === randomKernel
      ? written.replace(/^(\/\/ run:.*\n)/m, '$1// buffer spill: u32[4096]\n')
      : written
  const hides = random.oneIn(2)
  return {
    name: `${generator.name}-${seed}${hides ? '-hidden' : ''}.wgsl`,
    source: hides ? withHiddenLiterals(whole, random) : whole,
  }
}

/**
 * Replaces a third of the literals in functions by calls that give the same value. The translator writes `~` with a
 * word that the compilers do not know.
 */
function withHiddenLiterals(source: string, random: Random): string {
  const body = source.search(/^(?:@.*)?fn /m)
  const lines = source
    .slice(body)
    .split('\n')
    .map((line) =>
      /\b(?:case|const|quad\w+|subgroupBroadcast)\b|@/.test(line)
        ? line
        : line.replace(/(?<![\w.])(\d+)([iu])\b/g, (literal, digits: string, type: string) =>
            random.oneIn(3) && Number(digits) < 2 ** 31 - 1
              ? type === 'u'
                ? `hiddenU(${2 ** 32 - 1 - Number(digits)}u)`
                : `hiddenI(${-1 - Number(digits)}i)`
              : literal,
          ),
    )
  return `${source.slice(0, body)}${lines.join('\n')}
fn hiddenU(complement: u32) -> u32 { let value = complement; return ~value; }
fn hiddenI(complement: i32) -> i32 { let value = complement; return ~value; }
`
}
