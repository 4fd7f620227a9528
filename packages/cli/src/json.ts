/**
 * Version of every document that `--json` prints. It increases when a field changes its meaning or is
 * removed.
 */
const jsonSchema = 1

/**
 * Formats a document as one line. `$schema` names its JSON Schema; `kind` is a definition in schemas/1.json.
 * Numbers that JSON cannot express become strings (`"NaN"`, `"Infinity"`), never null; typed arrays and sets
 * become arrays; functions are omitted.
 */
export function formatJson(kind: string, document: object): string {
  const $schema = `https://unpkg.com/@tandem-gpu/cli/schemas/${jsonSchema}.json#/$defs/${kind}`
  return `${JSON.stringify({ $schema, schema: jsonSchema, ...document }, (_, value) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
    if (typeof value === 'bigint') return value.toString()
    if (value instanceof Set) return [...value]
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return Array.from(value as Uint8Array)
    return value
  })}\n`
}
