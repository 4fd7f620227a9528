// Runs the addon under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer, in jobs
// of three ranks.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runBundledJob } from './testing/bundled-job.ts'
import { openMpi, whereInstalled } from './testing/launchers.ts'

// Not a literal, because this package's build does not include that package.
const where = 'sanitized'
const { missingFor, sanitizedAddon, sanitizedStart } = (await import(
  `../../backend-cuda/src/testing/${where}.ts`
)) as {
  missingFor(sanitizer: string): string | undefined
  sanitizedAddon(sanitizer: string, name: string, folder: string): string
  sanitizedStart(
    sanitizer: string,
    addon: string,
  ): { starter: readonly string[]; environment: Readonly<Record<string, string>> }
}
const folder = fileURLToPath(new URL('..', import.meta.url))

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  describe.each(['address', 'thread'])('%s sanitizer', (sanitizer) => {
    const missing = missingFor(sanitizer)
    const reason = missing === undefined ? '' : ` (skipped: ${missing})`
    const run = (program: string, ...given: string[]) =>
      runBundledJob(openMpi, {
        ranks: 3,
        program,
        arguments: given,
        ...sanitizedStart(sanitizer, sanitizedAddon(sanitizer, 'backend-mpi', folder)),
      })

    it.skipIf(missing !== undefined)(
      `finds nothing while ranks exchange messages in groups that come and go${reason}`,
      async () => {
        const { exitCode, stdout, stderr } = await run(
          ...(['sequence.ts', 'messages.ts', 'abort.ts', 'groups.ts'] as const),
        )
        expect(stderr).not.toMatch(/Sanitizer|runtime error/)
        expect(stdout, stderr).toMatch(/^2: two groups at once are right$/m)
        expect(exitCode, stderr).toBe(0)
      },
    )

    it.skipIf(missing !== undefined)(`finds nothing while ranks fail, leave and end${reason}`, async () => {
      const { stdout: addons } = await run('misfortunes.ts', 'none')
      expect(addons).toMatch(new RegExp(`^(/.*/${sanitizer}/backend-mpi\\.node\n){3}$`))
      for (const [program, ...given] of [
        ['steady.ts', '60', 'leave'],
        ['misfortunes.ts', 'ended'],
        ['early-end.ts', 'call'],
      ] as const) {
        const { stdout, stderr } = await run(program, ...given)
        expect(stderr).not.toMatch(/Sanitizer|runtime error/)
        expect(stdout, stderr).not.toBe('')
      }
    })
  })
})
