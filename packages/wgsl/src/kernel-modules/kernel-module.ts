import { lower, lowerWithoutValues, parseWgsl } from '../frontend/lower.ts'
import type { IrModule } from '../ir.ts'
import { reflect } from '../reflect.ts'
import { SourceText } from '../source-text.ts'
import { argumentLines, propertyName } from './argument-types.ts'

/**
 * Generates the TypeScript module for a WGSL file. It exports the options of `group.compile` for each compute
 * entry point, under the entry point's name, with the type of its arguments. If there is only one entry
 * point, it is also the default export. `fileName` is used in the comment and in labels. Throws `WgslError`
 * if the WGSL does not compile or has no compute entry point.
 */
export function kernelModule(wgsl: string, fileName: string): string {
  const module = parseWgsl(wgsl, { label: fileName })
  const names = new Set(module.entryPoints.map(({ name }) => name))
  const types = new Set<string>()
  const kernels = module.entryPoints
    .filter(({ stage }) => stage === 'compute')
    .map(({ name }) => ({
      name,
      constant: reserved.has(name) ? untaken(`${name}Kernel`, names) : name,
      type: untaken(`${name.charAt(0).toUpperCase()}${name.slice(1)}Arguments`, types),
      ir: lowerWithoutValues(module, name),
    }))
  // Throws the error that there is no entry point.
  if (kernels.length === 0) lower(module)
  const text = new SourceText(wgsl, fileName)
  const body = kernels.map((kernel) => kernelText(kernel, text))
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
    ...(kernels.length === 1 ? [`export default ${kernels[0]!.constant}`, ''] : []),
  ].join('\n')
}

interface Kernel {
  readonly name: string
  readonly constant: string
  readonly type: string
  readonly ir: IrModule
}

function kernelText({ name, constant, type, ir }: Kernel, text: SourceText): string {
  const reflection = reflect(ir)
  const args = argumentLines(reflection)
  const names = new Set<string>()
  const twice = args.find(({ name: argument }) => names.has(argument) || !names.add(argument))
  if (twice !== undefined)
    throw text.errorAt(
      ir.entryPoint.loc,
      `'${name}' has two arguments '${twice.name}'; arguments are passed by name, so rename one of them`,
    )
  const lines = args.flatMap(({ name: argument, type, optional, comment }) => [
    `  /** ${comment.replaceAll('*/', '* /')}${optional ? '; filled in where it is left out' : ''} */`,
    `  readonly ${propertyName(argument)}${optional ? '?' : ''}: ${type}`,
  ])
  const stem = text.label.replace(/\.wgsl$/, '')
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
