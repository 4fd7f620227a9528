// Every rank: programs of this folder, one after another in one job: MPI and its processes take longer to start than most of them to run.
//   mpirun -n 3 node sequence.ts PROGRAM[,ARGUMENT ...] ...
for (const [place, step] of process.argv.slice(2).entries()) {
  const [program, ...given] = step.split(',')
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...given)
  // A program may come twice.
  await import(`./${program}?${place}`)
}
