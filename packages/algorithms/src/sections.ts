/** The parts of a text by name; each begins after a line `//// name`. */
export function sectionsOf<Name extends string>(text: string): Readonly<Record<Name, string>> {
  const sections = text.split(/^\/{4} /m).slice(1)
  return Object.fromEntries(sections.map((section) => section.split(/\n(.*)/s))) as Record<Name, string>
}
