import { lowerWithoutValues, parseWgsl } from '../frontend/lower.ts'
import { type Reflection, reflect } from '../reflect.ts'
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
  const kernels = module.entryPoints
    .filter(({ stage }) => stage === 'compute')
    .map(({ name }) => ({ name, reflection: reflect(lowerWithoutValues(module, name)) }))
  if (kernels.length === 0)
    throw new WgslError('the file has no compute entry point', {
      label: fileName,
      line: 1,
      column: 1,
      sourceLine: '',
    })
  const names = new Set(kernels.map(({ name }) => name))
  const types = new Set<string>()
  const constants = kernels.map(({ name }) => (reserved.has(name) ? untaken(`${name}Kernel`, names) : name))
  const body = kernels.map(({ name, reflection }, i) =>
    kernelText(
      name,
      constants[i]!,
      untaken(`${name.charAt(0).toUpperCase()}${name.slice(1)}Arguments`, types),
      reflection,
      fileName,
    ),
  )
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
    ...(kernels.length === 1 ? [`export default ${constants[0]}`, ''] : []),
  ].join('\n')
}

function kernelText(
  name: string,
  constant: string,
  type: string,
  reflection: Reflection,
  fileName: string,
): string {
  const lines = argumentLines(reflection).flatMap(({ name: argument, type, optional, comment }) => [
    `  /** ${comment.replaceAll('*/', '* /')}${optional ? '; filled in where it is left out' : ''} */`,
    `  readonly ${propertyName(argument)}${optional ? '?' : ''}: ${type}`,
  ])
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

/** Words that are not allowed as variable names in a TypeScript module, or have another use in it. */
const reserved = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function globalThis if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield wgsl BufferView CompileOptions Parameter'.split(
    ' ',
  ),
)

/** The name, with underscores at its end if it is taken; it is taken then. */
function untaken(name: string, taken: Set<string>): string {
  if (taken.has(name)) return untaken(`${name}_`, taken)
  taken.add(name)
  return name
}
