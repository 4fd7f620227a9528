/** Version of every document that `--json` prints. It increases when a field changes its meaning or is removed. */
const jsonSchema = 1

/** The definitions in schemas/1.json. */
export type DocumentKind =
  | 'bandwidth'
  | 'bench'
  | 'cache'
  | 'demo'
  | 'devices'
  | 'doctor'
  | 'error'
  | 'fft'
  | 'histogram'
  | 'jacobi'
  | 'jacobiScaling'
  | 'matmul'
  | 'monitor'
  | 'reduce'
  | 'ring'
  | 'ringComparison'
  | 'run'
  | 'scan'
  | 'select'
  | 'sort'
  | 'topology'
  | 'translate'
  | 'transpose'

/**
 * Formats a document as one line, which names its JSON Schema. Numbers that JSON lacks become strings (`"NaN"`, `"Infinity"`), never null; typed
 * arrays and sets become arrays; functions are left out.
 */
export function formatJson(kind: DocumentKind, document: object): string {
  const $schema = `https://unpkg.com/@tandem-gpu/cli/schemas/${jsonSchema}.json#/$defs/${kind}`
  return `${JSON.stringify({ $schema, schema: jsonSchema, ...document }, (_, value) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
    if (typeof value === 'bigint') return value.toString()
    if (value instanceof Set) return [...value]
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return Array.from(value as Uint8Array)
    return value
  })}\n`
}
