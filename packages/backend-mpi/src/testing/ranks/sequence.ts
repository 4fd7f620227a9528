// Every rank: programs of this folder, one after another in one job: MPI and its processes take longer to start than most of them to run. What a
// program prints begins with its place in the sequence.
//   mpirun -n 3 node sequence.ts '[FAKE_SETTING=VALUE ...] PROGRAM[,ARGUMENT ...]' ...
const print = console.log
for (const [place, step] of process.argv.slice(2).entries()) {
  const [program, ...settings] = step.split(' ').toReversed()
  const [name, ...given] = program!.split(',')
  for (const old of Object.keys(process.env)) if (old.startsWith('FAKE_')) delete process.env[old]
  for (const setting of settings) {
    const [name, value] = setting.split('=')
    process.env[name!] = value
  }
  console.log = (text: string) => print(`${place}: ${text}`)
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...given)
  // A program may come twice.
  await import(`./${name}?${place}`)
}
