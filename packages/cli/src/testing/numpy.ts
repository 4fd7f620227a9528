import { spawnSync } from 'node:child_process'

/** A Python that has NumPy (Debian: python3-numpy), or undefined. */
export const pythonWithNumpy = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import numpy'], { stdio: 'ignore' }).status === 0,
)

/** Runs a NumPy program (`np` is imported) in `folder` and returns what it prints. */
export function numpy(folder: string, program: string): string {
  const { status, stdout, stderr } = spawnSync(pythonWithNumpy!, ['-c', `import numpy as np\n${program}`], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`NumPy failed: ${stderr}`)
  return stdout.trim()
}
