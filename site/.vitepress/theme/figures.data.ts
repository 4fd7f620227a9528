import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Figure {
  readonly work: string
  /** Of Tandem and of what one would use instead; the longer bar of the two is the whole width. */
  readonly bars: readonly { readonly name: string; readonly rate: string; readonly share: number }[]
  readonly ratio: string
}

declare const data: { readonly source: string; readonly figures: readonly Figure[] }

export { data }

const readme = fileURLToPath(new URL('../../../README.md', import.meta.url))

const superscript = (digits: string) => digits.replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!)

/** The table of README.md, which tools/gpu-host/figures.ts writes from one measured document. */
export default {
  watch: [readme],
  load(): typeof data {
    const [, block] = /<!-- figures:highlights -->\n([\s\S]*?)<!-- \/figures -->/.exec(
      readFileSync(readme, 'utf8'),
    )!
    const figures = [
      ...block!.matchAll(/^\| (.+?) \| ([\d.]+) (\S+) \| (.+?) ([\d.]+) (\S+) \| (.+?) \|$/gm),
    ].map(([, work, ours, unit, peer, theirs, theirUnit, ratio]): Figure => {
      const most = Math.max(Number(ours), Number(theirs))
      return {
        work: work!
          .replace(/\^(\d+)/, (_, power: string) => superscript(power))
          .replace(/ (GPUs?)$/, '\u00a0$1'),
        bars: [
          { name: 'Tandem', rate: `${ours} ${unit}`, share: Number(ours) / most },
          { name: peer!, rate: `${theirs} ${theirUnit}`, share: Number(theirs) / most },
        ],
        ratio: ratio!,
      }
    })
    if (figures.length === 0) throw new Error('README.md has no table of figures.')
    return { source: block!.split('; from')[0]!.trim(), figures }
  },
}
