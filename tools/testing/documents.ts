import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fenced block of a document. */
export interface Block {
  /** Path of the document, from the root of the repository. */
  readonly document: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  readonly language: string
  /** The text after the language: the path of the file that the block quotes. */
  readonly quoted: string | undefined
  readonly text: string
}

/** The README, the guides, and the READMEs of packages and examples. */
export function documentPaths(root: string): string[] {
  const found = ['README.md', 'examples/README.md']
  for (const name of readdirSync(join(root, 'docs/guides')))
    if (name.endsWith('.md')) found.push(`docs/guides/${name}`)
  for (const name of readdirSync(join(root, 'packages'))) found.push(`packages/${name}/README.md`)
  return found
}

export function blocksOf(root: string, document: string): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(
    ([, language, quoted, block], index, all) => ({
      document,
      line: text.slice(0, all[index]!.index).split('\n').length,
      language: language!,
      quoted,
      text: block!,
    }),
  )
}

/** The output that `console.log` lines announce: their comment, up to a colon and a space. */
export function expectedLines(source: string): string[] {
  return [...source.matchAll(/^\s*console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) =>
    text!.split(': ')[0]!.trim(),
  )
}

/** The file name in a block's first line, such as `// kernels/axpy.wgsl`. */
export function fileName({ text, language }: Block): string | undefined {
  return new RegExp(`^// (\\S+\\.${language})\\n`).exec(text)?.[1]
}
