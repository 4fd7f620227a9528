import type { Program } from '@tandem-gpu/core'
import { escapeMarkup } from './printable.ts'

type Plan = Program['plan']
type Command = Plan['commands'][number]

const box = { height: 34, gapX: 14, gapY: 30 }
/** The widths of boxes, which depend on the longest label. */
const widths = { least: 110, most: 190, letter: 6.5, padding: 22 }
const laneGap = 36
/** The space above the lanes, for the title, the key and the devices' names. */
const header = 68

/** The position and size of a box. */
interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
}

/** A picture of more commands would not be readable. */
export const mostDrawnCommands = 400

/**
 * A recorded program as SVG. Each device has a lane; each command has a box below all commands that it waits
 * for. Lines show the waits, and are dashed for waits for the previous repetition. A key explains the colours
 * and the lines, which pass behind the boxes. Colours follow the viewer's light or dark scheme.
 */
export function planPicture({ label, schedule, commands }: Plan): string {
  const levels = levelsOf(commands)
  const devices = [...new Set(commands.map(({ device }) => device))].sort((a, b) => a - b)
  const { places, lanes, width } = layOut(commands, levels, devices)
  const height = header + Math.max(1, ...levels.map((level) => level + 1)) * (box.height + box.gapY)
  const edges = commands.flatMap((command) => [
    ...command.after.map((from) => line(places[from]!, places[command.index]!)),
    ...command.afterPrevious.map((from) => previousLine(places[from]!, places[command.index]!)),
  ])
  const boxes = commands.map((command) => boxOf(command, places[command.index]!))
  const heads = devices.map(
    (device, i) =>
      `<text x="${lanes[i]}" y="60" font-weight="bold">${device < 0 ? 'host' : `device ${device}`}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeMarkup(label)}, ${schedule}: ${commands.length} commands</title>
<style>
svg { color-scheme: light dark; color: black; color: CanvasText; background: white; background: Canvas; font: 12px system-ui, sans-serif; }
text { fill: currentColor; }
rect { stroke: currentColor; stroke-opacity: 0.5; fill-opacity: 0.25; }
.paper { fill: white; fill: Canvas; fill-opacity: 1; stroke: none; }
path { fill: none; stroke: currentColor; stroke-opacity: 0.6; }
.previous { stroke-dasharray: 4 4; stroke-opacity: 0.3; }
.dispatch { fill: #2ca02c; } .copy { fill: #1f77b4; } .upload { fill: #17becf; } .download { fill: #9467bd; }
.fill { fill: #ff7f0e; } .send { fill: #d62728; } .receive { fill: #e377c2; }
</style>
<text x="8" y="16">${escapeMarkup(label)} · ${schedule} · ${commands.length} commands</text>
${keyOf(commands)}
${[...heads, ...edges, ...boxes].join('\n')}
</svg>
`
}

/** The key to the colours and the lines of this plan, in one line. */
function keyOf(commands: readonly Command[]): string {
  let x = 8
  const parts: string[] = []
  const add = (sign: string, text: string) => {
    parts.push(`${sign}<text x="${x + 24}" y="38">${text}</text>`)
    x += 24 + widths.letter * text.length + 18
  }
  for (const kind of new Set(commands.map(({ kind }) => kind)))
    add(`<rect class="${kind}" x="${x}" y="28" width="18" height="12" rx="3"/>`, kind)
  const waits = { '': 'waits for', previous: 'waits for the previous repetition' }
  for (const [kind, text] of Object.entries(waits)) {
    const lines = commands.some(
      ({ after, afterPrevious }) => (kind === '' ? after : afterPrevious).length > 0,
    )
    if (lines) add(`<path class="${kind}" d="M${x} 34 H${x + 18}"/>`, text)
  }
  return `<g class="key">${parts.join('')}</g>`
}

/**
 * The level of each command: the length of the longest chain of commands of the same repetition before it.
 */
function levelsOf(commands: readonly Command[]): number[] {
  const levels: number[] = []
  for (const { index, after } of commands)
    levels[index] = 1 + Math.max(-1, ...after.map((from) => levels[from]!))
  return levels
}

function boxWidth(commands: readonly Command[]): number {
  const letters = Math.max(0, ...commands.map(({ index, label }) => `${index} ${label}`.length))
  return Math.min(widths.most, Math.max(widths.least, Math.ceil(widths.letter * letters + widths.padding)))
}

/** Commands of the same lane and level are side by side. */
function layOut(commands: readonly Command[], levels: readonly number[], devices: readonly number[]) {
  const boxes = boxWidth(commands)
  const used = new Map<string, number>()
  const columns = commands.map(({ index, device }) => {
    const key = `${device} ${levels[index]}`
    const column = used.get(key) ?? 0
    used.set(key, column + 1)
    return column
  })
  const lanes: number[] = []
  let width = 8
  for (const device of devices) {
    lanes.push(width)
    const wide = Math.max(
      ...commands.filter((command) => command.device === device).map(({ index }) => columns[index]! + 1),
    )
    width += wide * (boxes + box.gapX) + laneGap
  }
  const places = commands.map(
    ({ index, device }): Place => ({
      x: lanes[devices.indexOf(device)]! + columns[index]! * (boxes + box.gapX),
      y: header + levels[index]! * (box.height + box.gapY),
      width: boxes,
    }),
  )
  return { places, lanes, width: Math.max(width, 620) }
}

function line(from: Place, to: Place): string {
  const [x1, y1, x2, y2] = [from.x + from.width / 2, from.y + box.height, to.x + to.width / 2, to.y]
  return `<path d="M${x1} ${y1} C${x1} ${y1 + box.gapY / 2} ${x2} ${y2 - box.gapY / 2} ${x2} ${y2}"/>`
}

/**
 * From the side of a command to the side of one that waits for its previous run: a loop that ends before the
 * next box if that is the command itself.
 */
function previousLine(from: Place, to: Place): string {
  const [x1, y1, x2, y2] = [
    from.x + from.width,
    from.y + box.height / 2,
    to.x + to.width,
    to.y + box.height / 2,
  ]
  const [reach, spread] = from === to ? [box.gapX, box.height / 4] : [laneGap, 0]
  return `<path class="previous" d="M${x1} ${y1 - spread} C${x1 + reach} ${y1 - spread} ${x2 + reach} ${y2 + spread} ${x2} ${y2 + spread}"/>`
}

function boxOf({ kind, label, index }: Command, { x, y, width }: Place): string {
  const text = `${index} ${label}`
  const short = text.length > 28 ? `${text.slice(0, 27)}…` : text
  return `<g><title>${escapeMarkup(`${text} (${kind})`)}</title><rect class="paper" x="${x}" y="${y}" width="${width}" height="${box.height}" rx="5"/><rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${box.height}" rx="5"/><text x="${x + 9}" y="${y + 21}">${escapeMarkup(short)}</text></g>`
}
