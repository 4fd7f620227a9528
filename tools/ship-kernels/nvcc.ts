import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export const run = promisify(execFile)

/** The first of the programs that is there, and its version, such as `13.0.88`. */
export async function findNvcc(
  candidates: readonly string[],
): Promise<{ nvcc: string; release: string } | undefined> {
  for (const nvcc of candidates) {
    const output = await run(nvcc, ['--version']).then(
      ({ stdout }) => stdout,
      () => undefined,
    )
    if (output !== undefined) return { nvcc, release: /\bV([\d.]+)/.exec(output)?.[1] ?? 'unknown' }
  }
  return undefined
}
