import { withNamedBlocks } from '../named-blocks.ts'
import { cube, type Shape } from './targets.ts'
import {
  findResult,
  narrowShapes,
  type TensorDocument,
  type TensorResult,
  tensorTargetsOf,
} from './tensor-targets.ts'

/**
 * A document in which what stands between `<!-- tensor:NAME -->` and `<!-- /tensor -->` is what `table` says. NAME is `targets`, `f32`, `f16`, `several`,
 * `same-gpu` or `errors`.
 */
export function withTensorFigures(text: string, table: TensorDocument, path: string): string {
  return withNamedBlocks(text, 'tensor', (name) => tensorFigures(name, table, path))
}

function tensorFigures(name: string, table: TensorDocument, path: string): string {
  const make = Object.hasOwn(blocks, name) ? blocks[name] : undefined
  if (make === undefined) throw new Error(`there are no figures of products named ${name}`)
  const adapters = table.machine.adapters as readonly { readonly name: string; readonly driver?: string }[]
  const source = `${adapters.length} × ${adapters[0]!.name}, driver ${adapters[0]!.driver}, ${table.date.slice(0, 10)}, commit ${table.commit}; from \`${path}\`.`
  const [head, ...rows] = make(table)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [source, '', line(head!), line(head!.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join(
    '\n',
  )
}

type Rows = readonly (readonly string[])[]

const blocks: Readonly<Record<string, (table: TensorDocument) => Rows>> = {
  targets: (table) => [
    ['work', 'target', 'measured', 'met'],
    ...tensorTargetsOf(table).map(({ row, target, measured, met }) => [
      row,
      target,
      measured,
      met ? 'yes' : '**no**',
    ]),
  ],
  f32: ({ ours, peers }) => [
    ['f32, TFLOP/s', '`ieee`', '`split`', 'cuBLAS f32', '`split` to cuBLAS', '3xTF32 (Triton)'],
    ...[4096, 8192, 16384].map((side) => {
      const [ieee, split] = ['ieee', 'split'].map((precision) =>
        findResult(ours, 'gemm f32', `cuda ${precision}`, cube(side)),
      )
      const [cublas, triton] = ['cuBLAS', '3xTF32 (Triton)'].map((peer) =>
        findResult(peers, 'gemm f32', peer, cube(side)),
      )
      return [`${side}`, tera(ieee), tera(split), tera(cublas), ratio(split, cublas), tera(triton)]
    }),
  ],
  f16: ({ ours, peers }) => [
    ['f16 with sums and result in f32', 'TFLOP/s', 'cuBLAS', 'ratio'],
    ...[cube(4096), cube(8192), ...narrowShapes].map((shape) => {
      const one = findResult(ours, 'gemm f16', 'cuda tensor', shape)
      const other = findResult(peers, 'gemm f16', 'cuBLAS', shape)
      return [shapeText(shape), tera(one), tera(other), ratio(one, other)]
    }),
  ],
  several: ({ ours }) => [
    [`${devicesOf(ours)} GPUs, f32, TFLOP/s`, '`ieee`', '`split`', 'ratio'],
    ...['resident', 'streamed'].flatMap((mode) =>
      [8192, 16384, 32768].map((side) => {
        const [ieee, split] = ['ieee', 'split'].map((precision) =>
          findResult(ours, `gemm f32 ${mode}`, `cuda ${precision}`, cube(side), devicesOf(ours)),
        )
        return [`${mode} ${side}`, tera(ieee), tera(split), ratio(split, ieee)]
      }),
    ),
  ],
  'same-gpu': ({ ours }) => [
    ['work, 1 GPU', 'WebGPU', 'CUDA', 'ratio'],
    ...ours
      .filter(({ variant }) => variant.startsWith('webgpu'))
      .map((one) => {
        const other = findResult(
          ours,
          one.work,
          one.variant.replace('webgpu', 'cuda'),
          one.shape as Shape,
          one.devices,
        )
        const shape = shapeText(one.shape as Shape)
        return [`${one.work} ${shape}${checked(one)}`, rate(one), rate(other), ratio(one, other)]
      }),
  ],
  errors: ({ errors = [] }) => [
    ['input', 'k', 'W', '`split`', '`ieee`', 'cuBLAS f32', 'cuBLAS TF32', 'largest'],
    ...errors.map(({ input, k, window, rms, largest }) => [
      input,
      `${k}`,
      `${window}`,
      ...['split', 'ieee', 'cuBLAS f32', 'cuBLAS TF32'].map((of) => rms[of]!.toFixed(2)),
      largest.split!.toFixed(2),
    ]),
  ],
}

function devicesOf(results: readonly TensorResult[]): number {
  return Math.max(...results.map(({ devices }) => devices))
}

function tera(result: TensorResult | undefined): string {
  return result === undefined ? '' : `${(result.rate / 1e12).toFixed(1)}${checked(result)}`
}

function rate(result: TensorResult | undefined): string {
  if (result === undefined) return ''
  return result.unit === 'B/s' ? `${Math.round(result.rate / 1e9)} GB/s` : `${tera(result)} TFLOP/s`
}

function ratio(one: TensorResult | undefined, other: TensorResult | undefined): string {
  return one && other ? (one.rate / other.rate).toFixed(2) : ''
}

function checked({ verified }: TensorResult): string {
  return verified ? '' : ' (not verified)'
}

function shapeText(shape: Shape): string {
  return Object.values(shape).join(' × ')
}
