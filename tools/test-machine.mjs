// Prints which of the programs that tests depend on are available: nx runs tests again when that changes,
// instead of replaying the skips.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const programs = [
  'c++',
  'g++',
  'cmake',
  'make',
  'nvcc',
  'mpirun.openmpi',
  'mpirun.mpich',
  'python3',
  'ip',
  'ps',
  'setarch',
]
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/cuda/bin']
for (const program of programs)
  console.log(program, folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? '-')
const hasNumpy = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("numpy") is None)'
for (const python of ['python3', '/usr/bin/python3'])
  console.log(python, 'numpy', spawnSync(python, ['-c', hasNumpy]).status === 0)
