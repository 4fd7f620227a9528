/**
 * Returns the document with the text between `<!-- KIND:NAME -->` and `<!-- /KIND -->` replaced by `textOf`
 * of the name.
 */
export function withNamedBlocks(document: string, kind: string, textOf: (name: string) => string): string {
  return document.replace(
    new RegExp(`<!-- ${kind}:([\\w-]+) -->\\n[\\s\\S]*?<!-- /${kind} -->`, 'g'),
    (_, name: string) => `<!-- ${kind}:${name} -->\n${textOf(name)}\n<!-- /${kind} -->`,
  )
}
