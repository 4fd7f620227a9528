import { analyse } from '../analysis/analyses.ts'
import { findZeroInit } from '../analysis/zero-init.ts'
import { boundVariables } from '../bound-variables.ts'
import { subgroupSize } from '../collectives.ts'
import type { IrModule, ModuleVariable } from '../ir.ts'
import { alignOf, roundUp, sizeOf } from '../layout.ts'
import { SourceText } from '../source-text.ts'
import {
  cudaSubgroupMatrixConfigs,
  describeSubgroupMatrixUse,
  findSubgroupMatrixUses,
  unsupportedSubgroupMatrix,
} from '../subgroup-matrices.ts'
import { findDivergentCalls } from '../validity/uniformity.ts'
import { findAsyncCopies, noAsyncCopies } from './async-copies.ts'
import { findExitConditions } from './exit-conditions.ts'
import { initialText, valueText } from './expression-text.ts'
import { dynamicNames, entryBody, functionLines } from './function-text.ts'
import {
  type FunctionNeeds,
  FunctionWriter,
  type Line,
  lengthName,
  type ModuleContext,
  viewName,
} from './function-writer.ts'
import { findInlined } from './inlining.ts'
import { allLanes, laneBits, localIndexText } from './invocation-index.ts'
import {
  type CudaKernel,
  type CudaOptions,
  type CudaParameter,
  stopWordName,
  stopWordType,
} from './kernel.ts'
import { findLooks, type LookIntervals, lookIntervals, looksAnywhere, noLooks } from './loop-looks.ts'
import { constness, pointeeText, runtimeArray } from './module-memory.ts'
import { Names } from './names.ts'
import { fragmentsFor, preludeText } from './prelude/link.ts'
import { writeStatement } from './statement-text.ts'
import { findSwizzles } from './swizzles.ts'
import { structText, typeText } from './type-text.ts'
import { findUniformCopies } from './uniform-copies.ts'
import { findUnrolledLoops } from './unrolling.ts'
import {
  gridText,
  lookBetween,
  lookFirst,
  roundsHead,
  roundsParameters,
  roundsTail,
  roundsText,
} from './workgroup-rounds.ts'

/** The maximum workgroup memory that CUDA allows in static declarations. */
const staticWorkgroupLimitBytes = 48 * 1024

/**
 * Translates an entry point to CUDA C++17 without headers, for NVRTC or nvcc.
 *
 * The kernel's parameters follow `reflect(module).bindings`. A storage binding has a pointer and the number
 * of bound bytes (in `trap` mode also the view: byte offset, bytes per row, rows, bytes from row to row); a
 * uniform binding has a pointer. After these, `trap` mode adds a pointer to 16 words for the first
 * out-of-bounds access, `stoppable` the address of the stop word (with `start`, null in a launch that nothing
 * stops), and `indirect` the address of the numbers of workgroups and the largest number allowed. One thread
 * block is one workgroup, or with `indirect` runs several. As in WebGPU's limits, there are at most 65,535
 * workgroups per dimension; bounds checks that this makes unnecessary are omitted. Throws `WgslError` for
 * features that no NVIDIA GPU supports, and `TypeError`
 * for unknown bounds.
 */
export function emitCuda(module: IrModule, options: CudaOptions): CudaKernel {
  return emitCudaWithLooks(module, options, lookIntervals)
}

/** Like `emitCuda`, with other look intervals, for tests. */
export function emitCudaWithLooks(
  module: IrModule,
  options: CudaOptions,
  intervals: LookIntervals,
): CudaKernel {
  if (!['clamp', 'trap', 'unchecked'].includes(options?.bounds))
    throw new TypeError(
      `The bounds of emitCuda are ${options?.bounds}; they must be clamp, trap or unchecked.`,
    )
  if (options.indirect === true && options.bounds === 'trap')
    throw new TypeError("A kernel of emitCuda with the option 'indirect' has no bounds 'trap'.")
  checkSubgroupMatrices(module)
  const names = new Names()
  const analyses = analyse(module)
  const workgroup = module.variables.filter((v) => v.space === 'workgroup')
  // In trap mode every access is conditional. In indirect mode pending copies would write into the memory of
  // the block's next workgroup.
  const asyncCopies =
    options.bounds === 'trap' || options.indirect === true ? noAsyncCopies : findAsyncCopies(module, analyses)
  const swizzles = findSwizzles(module, asyncCopies)
  const alignment = (v: ModuleVariable) => Math.max(swizzles.has(v) ? 128 : 16, alignOf(v.type))
  const layout = workgroupLayout(workgroup, alignment)
  const isDynamic = layout.byteLength > staticWorkgroupLimitBytes
  // In trap mode each access has a branch, and nvcc takes several times as long for unrolled loops.
  const { counters } = analyses
  const unrolledLoops = options.bounds === 'trap' ? new Map() : findUnrolledLoops(module, counters)
  const inlined = findInlined(module, (loop) =>
    unrolledLoops.get(loop) === Infinity ? counters.exactTrips(loop)! : 1,
  )
  const context: ModuleContext = {
    module,
    bounds: options.bounds,
    names,
    ...analyses,
    unrolledLoops,
    exitConditions: findExitConditions(module, counters),
    divergentCalls: findDivergentCalls(module),
    zeroed: findZeroInit(module, analyses),
    uniformCopies: findUniformCopies(module),
    asyncCopies,
    swizzles,
    workgroup: options.indirect === true ? roundsText : gridText,
    looks: options.stoppable === true ? findLooks(module, analyses, intervals) : noLooks,
    features: {
      subgroups: module.features.includes('subgroups'),
      subgroupMatrices: false,
      packedDot: false,
      barriers: false,
    },
    needs: new Map(),
    dynamicOffsets: isDynamic ? layout.offsets : undefined,
    inlined,
    hasCalls: module.functions.some((fn) => fn !== module.entryPoint && !inlined.has(fn)),
    valueText,
    initialText,
    writeStatement,
    nextSite: 0,
    nextWriter: 0,
    nextTemporaryId: -1_000_000_000,
  }
  const lines: Line[] = []
  const plain = (text: string) => lines.push({ text, line: undefined })
  for (const s of module.structs) for (const text of structText(s, names)) plain(text)
  for (const constant of module.constants) {
    const text = new FunctionWriter(context).initial(constant.type, constant.value)
    plain(`__device__ constexpr ${typeText(constant.type, names)} ${names.of(constant)} = ${text};`)
  }
  if (isDynamic) plain(names.prelude('WGSL_DYNAMIC_WORKGROUP'))
  else
    for (const v of workgroup)
      plain(`alignas(${alignment(v)}) __shared__ ${typeText(v.type, names)} ${names.of(v)};`)
  for (const fn of module.functions)
    if (fn !== module.entryPoint) for (const line of functionLines(context, fn)) lines.push(line)
  const entry = entryBody(context, module.entryPoint)
  const looksBetween = options.indirect === true && options.stoppable === true
  const looksFirst = options.stoppable === 'start' && looksAnywhere(findLooks(module, analyses, intervals))
  if (looksBetween || looksFirst) entry.needs.usesStopWord = true
  const bindings = boundVariables(module)
  const stopWord = looksFirst && !looksBetween ? 'stop-word-or-null' : 'stop-word'
  const parameters = kernelParameters(context, bindings, entry.needs, stopWord)
  if (options.indirect === true) parameters.push(...roundsParameters)
  const entryName = names.of(module.entryPoint)
  const [x, y, z] = module.workgroupSize
  const { workgroupsPerMultiprocessor: together } = options
  const launchBounds = [x * y * z, ...(together === undefined ? [] : [together])].join(', ')
  lines.push({
    text: `extern "C" __global__ void __launch_bounds__(${launchBounds}) ${entryName}(`,
    line: module.entryPoint.loc.line,
  })
  for (const [i, p] of parameters.entries())
    plain(`    ${p.type} ${p.name}${i === parameters.length - 1 ? '' : ','}`)
  plain(') {')
  for (const text of prologue(context, bindings, entry.needs)) plain(`  ${text}`)
  if (looksFirst) plain(`  ${lookFirst(names, findSubgroupMatrixUses(module).length > 0, stopWordName)}`)
  if (options.indirect === true) for (const text of roundsHead) plain(`  ${text}`)
  for (const v of module.variables.filter((v) => v.space === 'private' && entry.needs.variables.has(v))) {
    const writer = new FunctionWriter(context)
    plain(`  ${writer.declaration(v.type, names.of(v), writer.initial(v.type, v.initial))};`)
  }
  for (const line of dynamicNames(context, workgroup)) lines.push(line)
  const zeroed = workgroup.filter((v) => context.zeroed.has(v))
  if (zeroed.length > 0) {
    for (const v of zeroed)
      plain(
        `  ${names.prelude(x * y * z < 16 ? 'zero_workgroup_by_few' : 'zero_workgroup')}(&${names.of(v)}, sizeof(${names.of(v)}), ${localIndexText(module.workgroupSize)}, ${x * y * z}u);`,
      )
    plain('  __syncthreads();')
    context.features.barriers = true
  }
  for (const line of entry.lines) lines.push(line)
  if (options.indirect === true) {
    const { barriers, subgroups, subgroupMatrices } = context.features
    const meets = workgroup.length > 0 || barriers || subgroups || subgroupMatrices
    if (meets) context.features.barriers = true
    const look = looksBetween ? lookBetween(names, context.looks.together, stopWordName) : undefined
    for (const text of roundsTail(meets, look)) plain(`  ${text}`)
  }
  plain('}')
  return assemble(module, options, context, lines, {
    isStoppable: options.stoppable === 'start' || context.looks.complete,
    entryName,
    parameters,
    staticSharedByteLength: isDynamic ? 0 : layout.byteLength,
    dynamicSharedByteLength: isDynamic ? layout.byteLength : 0,
  })
}

/** Rejects matrices that tensor cores do not support, and workgroups with incomplete subgroups. */
function checkSubgroupMatrices(module: IrModule): void {
  const uses = findSubgroupMatrixUses(module)
  if (uses.length === 0) return
  const source = new SourceText(module.source, module.label)
  const wrong = unsupportedSubgroupMatrix(uses, cudaSubgroupMatrixConfigs)
  if (wrong !== undefined) throw source.errorAt(wrong.loc, describeSubgroupMatrixUse(wrong))
  const [x] = module.workgroupSize
  if (x % subgroupSize !== 0)
    throw source.errorAt(
      module.entryPoint.loc,
      `a kernel with subgroup matrices has a workgroup size of ${x} in x, not a multiple of ${subgroupSize}`,
    )
}

function assemble(
  module: IrModule,
  options: CudaOptions,
  context: ModuleContext,
  lines: readonly Line[],
  rest: Pick<
    CudaKernel,
    'isStoppable' | 'entryName' | 'parameters' | 'staticSharedByteLength' | 'dynamicSharedByteLength'
  >,
): CudaKernel {
  const label = oneLine(options.label ?? module.label)
  const { preludeNames } = context.names
  // Accesses report with a call.
  const hasCalls = context.hasCalls || preludeNames.has('trap_view')
  const head = [
    `// ${label}: translated from WGSL, bounds: ${options.bounds}${hasCalls ? '; ptxas must not optimize it (-O0)' : ''}`,
    '#pragma nv_diag_suppress 177,186',
    'namespace wgsl {',
    ...preludeText(fragmentsFor(preludeNames), 'cuda').split('\n'),
    '',
  ]
  const withLines = directed(lines, options.lineDirectives === false ? undefined : label)
  const { subgroups, subgroupMatrices, packedDot, barriers } = context.features
  return {
    source: `${[...head, ...withLines.map((l) => l.text), '}'].join('\n')}\n`,
    workgroupSize: module.workgroupSize,
    lineMap: [...head.map(() => undefined), ...withLines.map((l) => l.line), undefined],
    minimumComputeCapability: subgroupMatrices ? [8, 0] : subgroups ? [7, 0] : packedDot ? [6, 1] : undefined,
    ptxasLevel: hasCalls ? 0 : 3,
    usesSubgroups: subgroups,
    usesBarriers: barriers,
    parts: { body: lines.map((l) => l.text).join('\n'), preludeNames: [...preludeNames] },
    ...rest,
  }
}

/** A label in a form that is valid in a comment and in a `#line` directive. */
function oneLine(label: string): string {
  return label.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** Adds `#line` before each line whose number does not follow from the previous line. */
function directed(lines: readonly Line[], label: string | undefined): Line[] {
  if (label === undefined) return [...lines]
  const file = label.replaceAll('\\', '/').replaceAll('"', "'")
  const result: Line[] = []
  let expected: number | undefined
  for (const line of lines) {
    if (line.line !== undefined && line.line !== expected && !line.closes) {
      result.push({ text: `#line ${line.line} "${file}"`, line: line.line })
      expected = line.line
    }
    result.push(line)
    if (expected !== undefined) expected++
  }
  return result
}

function kernelParameters(
  context: ModuleContext,
  bindings: readonly ModuleVariable[],
  { usesStopWord }: FunctionNeeds,
  stopWord: 'stop-word' | 'stop-word-or-null',
): CudaParameter[] {
  const { names, bounds } = context
  const parameters: CudaParameter[] = []
  for (const [bindingIndex, v] of bindings.entries()) {
    const name = names.of(v)
    // With it on bindings that change, nvcc 13.0 keeps what it has loaded where a branch chooses the address, although a
    // store changes it; and with barriers other invocations change it.
    const qualifier = constness(v) === '' ? '' : ' __restrict__'
    parameters.push({
      kind: v.space === 'uniform' ? 'uniform' : 'storage',
      name: context.uniformCopies.has(v) ? `${name}buffer` : name,
      type: `${constness(v)}${pointeeText(context, v)}*${qualifier}`,
      bindingIndex,
    })
    if (v.space !== 'storage') continue
    const word = (kind: 'byte-length' | 'view', suffix: string) =>
      parameters.push({ kind, name: `${name}${suffix}`, type: 'unsigned long long', bindingIndex })
    word('byte-length', 'bytes')
    if (bounds === 'trap')
      for (const suffix of ['offset', 'rowbytes', 'rows', 'rowstride']) word('view', suffix)
  }
  if (bounds === 'trap')
    parameters.push({ kind: 'trap-record', name: 'trap_record', type: 'unsigned*', bindingIndex: undefined })
  if (usesStopWord)
    parameters.push({
      kind: stopWord,
      name: stopWordName,
      type: stopWordType,
      bindingIndex: undefined,
    })
  return parameters
}

/** The statements that compute values once from the kernel's parameters. */
function prologue(
  context: ModuleContext,
  bindings: readonly ModuleVariable[],
  { lengths, usesLanes }: FunctionNeeds,
): string[] {
  const { names, bounds, module } = context
  const lines: string[] = []
  // These come first, so that the loads overlap the rest of the prologue.
  for (const v of bindings) {
    const chunks = context.uniformCopies.get(v)
    const name = names.of(v)
    if (chunks !== undefined)
      lines.push(
        `const ${typeText(v.type, names)} ${name} = ${names.prelude('load_uniform')}<0x${chunks.toString(16)}u>(${name}buffer);`,
      )
  }
  for (const [index, v] of bindings.entries()) {
    if (v.space !== 'storage') continue
    const name = names.of(v)
    const array = runtimeArray(v)
    if (array !== undefined && lengths.has(v))
      lines.push(
        `const unsigned ${lengthName(names, v)} = ${names.prelude('array_length')}(${name}bytes, ${array.offset}u, ${array.stride}u);`,
      )
    if (bounds === 'trap')
      lines.push(
        `const ${names.prelude('trap_view')} ${viewName(names, v)} = {${name}bytes, ${name}offset, ${name}rowbytes, ${name}rows, ${name}rowstride, ${index}u, trap_record};`,
      )
  }
  if (usesLanes) {
    const [x, y, z] = module.workgroupSize
    const threads = x * y * z
    const whole = Math.floor(threads / subgroupSize)
    lines.push(
      `const unsigned lanes = (${localIndexText(module.workgroupSize)}) >> ${laneBits} == ${whole}u ? ${2 ** (threads % subgroupSize) - 1}u : ${allLanes};`,
    )
  }
  return lines
}

function workgroupLayout(variables: readonly ModuleVariable[], alignment: (v: ModuleVariable) => number) {
  const offsets = new Map<ModuleVariable, number>()
  let byteLength = 0
  for (const v of variables) {
    byteLength = roundUp(byteLength, alignment(v))
    offsets.set(v, byteLength)
    byteLength += sizeOf(v.type)
  }
  return { offsets, byteLength: roundUp(byteLength, 16) }
}
