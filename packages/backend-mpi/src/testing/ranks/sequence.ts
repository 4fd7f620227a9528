// Every rank: programs of this folder, one after another in one job, because MPI and its processes take
// longer to start than most programs to run. Output of a program begins with its place in the sequence.
//   mpirun -n 3 node sequence.ts '[[RANK@]FAKE_SETTING=VALUE ...] PROGRAM[,ARGUMENT ...]' ...
import { extname } from 'node:path'
import { detectLaunch } from '../../launcher.ts'

const rank = detectLaunch(process.env)?.rank ?? 0
const print = console.log
for (const [place, step] of process.argv.slice(2).entries()) {
  const [program, ...settings] = step.split(' ').toReversed()
  const [name, ...given] = program!.split(',')
  for (const old of Object.keys(process.env)) if (old.startsWith('FAKE_')) delete process.env[old]
  for (const setting of settings) {
    const [, only, name, value] = /^(?:(\d+)@)?(\w+)=(.*)$/.exec(setting)!
    if (only === undefined || Number(only) === rank) process.env[name!] = value
  }
  console.log = (text: string) => print(`${place}: ${text}`)
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...given)
  // A program may occur twice, and is bundled if this one is.
  const address = `./${name!.replace(/\.ts$/, extname(process.argv[1]!))}?${place}`
  await import(address)
}
