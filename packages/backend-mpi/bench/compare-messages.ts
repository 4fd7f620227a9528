// Compares messages between two local processes, through Tandem and in a plain program, in alternating runs;
// prints medians and their ratio.
//   node bench/compare-messages.ts [--launcher mpirun.openmpi] [--bytes 67108864] [--count 10] [--runs 7]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    launcher: { type: 'string', default: 'mpirun.openmpi' },
    library: { type: 'string' },
    bytes: { type: 'string', default: String(2 ** 26) },
    count: { type: 'string', default: '10' },
    runs: { type: 'string', default: '7' },
  },
})
const { launcher, bytes, count, runs } = values
const mpich = launcher.includes('mpich')
const library = values.library ?? (mpich ? 'libmpich.so.12' : 'libmpi.so.40')
const folder = dirname(fileURLToPath(import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'tandem-messages-'))
const plain = join(scratch, 'plain-messages')
execFileSync('c++', [
  '-O2',
  '-std=c++20',
  '-I',
  join(folder, '..', 'native', 'src'),
  join(folder, 'plain-messages.cpp'),
  '-ldl',
  '-o',
  plain,
])
const launch = (...command: string[]) =>
  Number(
    execFileSync(
      launcher,
      [...(mpich ? [] : ['--oversubscribe', '--mca', 'mpi_yield_when_idle', '1']), '-n', '2', ...command],
      {
        encoding: 'utf8',
        env: { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' },
      },
    ),
  )
const rates = { plain: [] as number[], tandem: [] as number[] }
for (let run = 0; run < Number(runs); run++) {
  rates.plain.push(Number(bytes) / launch(plain, library, bytes, count) / 1e9)
  rates.tandem.push(
    Number(bytes) / launch(process.execPath, join(folder, 'staged-messages.ts'), bytes, count) / 1e9,
  )
}
rmSync(scratch, { recursive: true })
const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!
for (const [name, list] of Object.entries(rates))
  console.log(
    `${name.padEnd(6)} ${median(list).toFixed(2)} GB/s (${list.map((rate) => rate.toFixed(2)).join(' ')})`,
  )
console.log(`ratio  ${(median(rates.tandem) / median(rates.plain)).toFixed(3)}`)
