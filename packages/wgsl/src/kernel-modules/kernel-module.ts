import { lower, parseWgsl } from '../frontend/lower.ts'
import { parseModule } from '../frontend/parser.ts'
import { type Reflection, reflect } from '../reflect.ts'
import { SourceText } from '../source-text.ts'
import { WgslError } from '../wgsl-error.ts'
import { argumentLines, propertyName } from './argument-types.ts'

/**
 * Generates the TypeScript module for a WGSL file. It exports the options of `group.compile` for each compute
 * entry point, under the entry point's name, with the type of its arguments. If there is only one entry
 * point, it is also the default export. `fileName` is used in the comment and in labels. Throws `WgslError`
 * if the WGSL does not compile or has no compute entry point.
 */
export function kernelModule(wgsl: string, fileName: string): string {
  const module = parseWgsl(wgsl, { label: fileName })
  const constants = placeholders(wgsl, fileName)
  const kernels = module.entryPoints
    .filter(({ stage }) => stage === 'compute')
    .map(({ name }) => ({ name, reflection: reflect(lower(module, { entryPoint: name, constants })) }))
  if (kernels.length === 0)
    throw new WgslError('the file has no compute entry point', {
      label: fileName,
      line: 1,
      column: 1,
      sourceLine: '',
    })
  const body = kernels.map(({ name, reflection }) => kernelText(name, reflection, fileName))
  const imported = ['BufferView', 'CompileOptions', 'Parameter'].filter((name) =>
    body.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
  )
  return [
    `// Written by tandem-wgsl from ${fileName}: change that file, not this one.`,
    `import type { ${imported.join(', ')} } from '@tandem-gpu/core'`,
    '',
    `const wgsl = ${JSON.stringify(wgsl)}`,
    '',
    ...body,
    ...(kernels.length === 1 ? [`export default ${identifier(kernels[0]!.name)}`, ''] : []),
  ].join('\n')
}

function kernelText(name: string, reflection: Reflection, fileName: string): string {
  const lines = argumentLines(reflection).flatMap(({ name: argument, type, optional, comment }) => [
    `  /** ${comment.replaceAll('*/', '* /')}${optional ? '; filled in where it is left out' : ''} */`,
    `  readonly ${propertyName(argument)}${optional ? '?' : ''}: ${type}`,
  ])
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Arguments`
  const constant = identifier(name)
  const stem = fileName.replace(/\.wgsl$/, '')
  const label = stem === name ? name : `${stem} ${name}`
  const constants = reflection.overrides.map(({ name: override, type: kind }) => `${override}: ${kind}`)
  return [
    `/** What a dispatch of \`${name}\` takes. */`,
    `export type ${type} = {`,
    ...lines,
    '}',
    '',
    `/** Workgroups of ${reflection.workgroupSize.join(' × ')}${constants.length > 0 ? `; constants: ${constants.join(', ')}` : ''}. */`,
    `${constant === name ? 'export ' : ''}const ${constant}: CompileOptions<${type}> = {`,
    `  label: ${JSON.stringify(label)},`,
    '  wgsl,',
    `  entryPoint: ${JSON.stringify(name)},`,
    '}',
    ...(constant === name ? [] : [`export { ${constant} as ${name} }`]),
    '',
  ].join('\n')
}

/**
 * A placeholder value for each override without one, so that argument types can be determined without values.
 */
function placeholders(wgsl: string, label: string): Record<string, number> {
  const values: Record<string, number> = {}
  for (const declaration of parseModule(new SourceText(wgsl, label)).declarations) {
    if (declaration.kind !== 'override' || declaration.initial !== undefined) continue
    const id = declaration.attributes.find(({ name }) => name === 'id')
    const number = id && Number.parseInt(wgsl.slice(wgsl.indexOf('(', id.at) + 1), 10)
    values[number ?? declaration.name] = 1
  }
  return values
}

/** Words that are not allowed as variable names in a JavaScript module, but are allowed in WGSL. */
const reserved = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield wgsl BufferView CompileOptions Parameter'.split(
    ' ',
  ),
)

function identifier(name: string): string {
  return reserved.has(name) ? `${name}Kernel` : name
}
