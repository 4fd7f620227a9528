import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

type Schema = { [keyword: string]: unknown }

/**
 * The published schema, made strict: it allows users to receive new fields, whereas tests demand that every
 * field is described.
 */
function strictSchema(): Schema & { $id: string; $defs: Record<string, Schema> } {
  const schema = JSON.parse(readFileSync(new URL('../../schemas/1.json', import.meta.url), 'utf8'))
  // Other definitions extend these.
  const open = (name: string) => name === 'document' || /report$/i.test(name)
  for (const [name, definition] of Object.entries<Schema>(schema.$defs)) {
    for (const property of Object.values((definition.properties ?? {}) as Schema)) close(property)
    if (!open(name)) close(definition)
  }
  return schema
}

/** Forbids additional properties in every object schema, at any depth. */
function close(node: unknown): void {
  if (Array.isArray(node)) for (const item of node) close(item)
  else if (typeof node === 'object' && node !== null) {
    const schema = node as Schema
    for (const value of Object.values(schema)) close(value)
    if (schema.properties !== undefined || schema.allOf !== undefined) schema.unevaluatedProperties ??= false
  }
}

const schema = strictSchema()
const ajv = new Ajv2020({
  allErrors: true,
  allowUnionTypes: true,
  strictRequired: false,
  // Definitions that extend others inherit the type from them.
  strictTypes: false,
  formats: { 'date-time': true },
})
ajv.addSchema(schema)
const validators = new Map<string, ValidateFunction>()

/** The definitions of documents to which `$schema` refers. */
export const documentKinds = Object.keys(schema.$defs).filter((name) =>
  (schema.anyOf as { $ref: string }[]).some(({ $ref }) => $ref === `#/$defs/${name}`),
)

/** The errors in a document of `--json` according to the schema that it names; empty if there are none. */
export function schemaErrors(document: { readonly $schema?: string }): string[] {
  const { $schema = '' } = document
  if (!$schema.startsWith(`${schema.$id}#/$defs/`)) return [`$schema is ${$schema}`]
  const validate = validators.get($schema) ?? ajv.getSchema($schema)
  if (validate === undefined) return [`no definition ${$schema}`]
  validators.set($schema, validate as ValidateFunction)
  validate(document)
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
