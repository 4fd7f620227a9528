/** A document in which `textOf` gives anew what stands between `<!-- KIND:NAME -->` and `<!-- /KIND -->`. */
export function withNamedBlocks(document: string, kind: string, textOf: (name: string) => string): string {
  return document.replace(
    new RegExp(`<!-- ${kind}:([\\w-]+) -->\\n[\\s\\S]*?<!-- /${kind} -->`, 'g'),
    (_, name: string) => `<!-- ${kind}:${name} -->\n${textOf(name)}\n<!-- /${kind} -->`,
  )
}
