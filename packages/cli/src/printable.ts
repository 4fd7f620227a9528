/**
 * `text` with control characters, which could change what a terminal shows, escaped as `\xNN` or `\uNNNN`;
 * `keep` lists the ones to leave as they are.
 */
export function printable(text: string, keep = ''): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    if (keep.includes(character)) return character
    const code = character.charCodeAt(0)
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
  })
}

/** `text` as the content of an element or an attribute of HTML or SVG. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** As `printable`, for sentences that may have several lines. */
export function printableLines(text: string): string {
  return printable(text, '\n\t')
}
