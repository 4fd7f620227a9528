import { main } from '../program.ts'
import { recordedTerminal } from '../terminal.ts'
import { schemaErrors } from './documents.ts'

/**
 * The backend of the acceptance tests: the software adapter, or the one that TANDEM_TEST_BACKEND names on a
 * GPU host.
 */
export const testBackend = process.env.TANDEM_TEST_BACKEND ?? 'webgpu'

export interface TandemResult {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `tandem` in this process, as a shell would with this line. Arguments cannot contain spaces. Throws if
 * a document of `--json` does not match its schema.
 */
export async function tandem(line: string): Promise<TandemResult> {
  const terminal = recordedTerminal()
  const args = line.split(' ')
  const exit = await main(args, terminal)
  if (args.includes('--json'))
    for (const document of terminal.stdout.split('\n').filter((text) => text !== '')) {
      const errors = schemaErrors(JSON.parse(document))
      if (errors.length > 0)
        throw new Error(`tandem ${line} prints, against its schema: ${errors.join('; ')}`)
    }
  return { exit, stdout: terminal.stdout, stderr: terminal.stderr }
}

/**
 * Like `tandem`, on the backend under test with `--json`. Returns the document; throws unless the exit code
 * is 0.
 */
// biome-ignore lint/suspicious/noExplicitAny: documents have the fields that the tests assert.
export async function tandemJson(line: string): Promise<any> {
  const { exit, stdout, stderr } = await tandem(`${line} --backend ${testBackend} --virtual --json`)
  if (exit !== 0) throw new Error(`tandem ${line} exits with ${exit}: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}
