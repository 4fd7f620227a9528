import { type SpawnOptions, spawn } from 'node:child_process'

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  /** Both streams, in the order of their output. */
  readonly output: string
}

/** Runs a program to its end without blocking this process, in which the local registry runs. */
export function runAsync(program: string, args: readonly string[], options: SpawnOptions): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, output] = ['', '']
    child.stdout!.on('data', (data) => {
      stdout += data
      output += data
    })
    child.stderr!.on('data', (data) => {
      output += data
    })
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, output }))
  })
}
