// What docs/performance/webgpu-api.md says of a measurement by webgpu-api.ts: between `<!-- webgpu-api:NAME -->` and `<!-- /webgpu-api -->`.
//
//   node tools/gpu-host/webgpu-api-figures.ts        writes the tables anew
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withNamedBlocks } from '../named-blocks.ts'

/** What webgpu-api.ts writes, with the machine and the commit. */
export interface ApiMeasurement {
  readonly machine: string
  readonly commit: string
  readonly date: string
  readonly node: string
  readonly rows: readonly {
    readonly name: string
    readonly tandem: number
    readonly dawn: number
    readonly ratio: number
    readonly target?: { readonly ratio: number; readonly most?: number }
    readonly met?: boolean
  }[]
}

export const measurement = 'docs/measurements/2026-11-23-h200-webgpu-api.json'
export const page = 'docs/performance/webgpu-api.md'
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The page with the tables of a measurement. */
export function withApiFigures(text: string, measured: ApiMeasurement): string {
  return withNamedBlocks(text, 'webgpu-api', (name) => {
    if (name !== 'calls') throw new Error(`there are no figures of the WebGPU API named ${name}`)
    const { machine, date, commit, rows } = measured
    return [
      `${machine}, ${date.slice(0, 10)}, commit ${commit}; from \`${measurement}\`.`,
      '',
      '| work | Tandem | Dawn | ratio | target | met |',
      '|---|---|---|---|---|---|',
      ...rows
        .filter(({ name }) => name !== 'submits a training step')
        .map(
          ({ name, tandem, dawn, ratio, target, met }) =>
            `| ${name} | ${time(tandem)} | ${time(dawn)} | ${ratio.toFixed(2)} | ${targetText(target)} | ${target === undefined ? '' : met ? 'yes' : '**no**'} |`,
        ),
    ].join('\n')
  })
}

function time(microseconds: number): string {
  if (microseconds >= 1e5) return `${(microseconds / 1e3).toFixed(0)} ms`
  if (microseconds >= 1000) return `${(microseconds / 1e3).toFixed(2)} ms`
  return `${microseconds.toFixed(1)} µs`
}

function targetText(target: ApiMeasurement['rows'][number]['target']): string {
  if (target === undefined) return ''
  return `≤ ${target.ratio} ×${target.most === undefined ? '' : `, ≤ ${target.most} µs`}`
}

export function readMeasurement(): ApiMeasurement {
  return JSON.parse(readFileSync(`${root}${measurement}`, 'utf8')) as ApiMeasurement
}

export const readPage = () => readFileSync(`${root}${page}`, 'utf8')

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(`${root}${page}`, withApiFigures(readPage(), readMeasurement()))
