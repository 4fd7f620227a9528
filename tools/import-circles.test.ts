import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The IR is one vocabulary; no other file has more than 500 lines. */
const ir = 'packages/wgsl/src/ir.ts'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

function sourceFiles(folder: string, wanted = /\.ts$/): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourceFiles(path, wanted)
    return wanted.test(entry.name) ? [path] : []
  })
}

const files = readdirSync(join(root, 'packages')).flatMap((name) =>
  sourceFiles(join(root, 'packages', name, 'src')),
)
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

/** Relative imports and re-exports of each file; those of types alone only where `types` is true. */
function importGraph(types: boolean): Graph {
  return new Map(
    [...texts].map(([file, text]) => {
      const imports = text.matchAll(/^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s*from\s+)?'(\.[^']+)'/gm)
      const targets = [...imports].flatMap(([, type, names = '', path]) => {
        const listed = /^\{([^}]*)\}$/.exec(names.trim())?.[1]
        const typeNames = listed?.split(',').every((name) => /^\s*(type\s|$)/.test(name)) ?? false
        return (type !== undefined || typeNames) && !types ? [] : [resolve(dirname(file), path!)]
      })
      return [file, new Set(targets.filter((target) => texts.has(target)))]
    }),
  )
}

/** Sets of files that reach one another (Tarjan, "Depth-first search and linear graph algorithms", 1972), by their sorted paths. */
function circles(graph: Graph): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const visit = (file: string): number => {
    const own = order.size
    order.set(file, own)
    lowest.set(file, own)
    open.push(file)
    for (const target of graph.get(file)!) {
      const reached = order.has(target) ? (open.includes(target) ? order.get(target)! : own) : visit(target)
      lowest.set(file, Math.min(lowest.get(file)!, reached))
    }
    if (lowest.get(file) === own) {
      const circle = open.splice(open.indexOf(file))
      if (circle.length > 1) found.push(circle.map((path) => relative(root, path)).sort())
    }
    return lowest.get(file)!
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return found
}

const valueCircles = circles(importGraph(false))
const allCircles = circles(importGraph(true))

it('finds circles', () => {
  const graph = (edges: Record<string, string[]>): Graph =>
    new Map(
      Object.entries(edges).map(([from, to]) => [
        join(root, from),
        new Set(to.map((path) => join(root, path))),
      ]),
    )
  expect(circles(graph({ a: ['b'], b: ['c'], c: ['a', 'd'], d: [], e: ['a', 'e'] }))).toEqual([
    ['a', 'b', 'c'],
  ])
  expect(circles(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toEqual([])
  expect(files.length).toBeGreaterThan(200)
  const edges = [...importGraph(true).values()].reduce((sum, targets) => sum + targets.size, 0)
  expect(edges).toBeGreaterThan(files.length)
})

it('no circle of value imports crosses a folder', () => {
  const crossing = valueCircles.filter((circle) => new Set(circle.map((file) => dirname(file))).size > 1)
  expect(crossing).toEqual([])
})

it('no circle of value imports is larger than three files', () => {
  expect(valueCircles.filter((circle) => circle.length > 3)).toEqual([])
})

it('no circle goes through imports of types: a type stands in the lowest file that owns it', () => {
  const values = new Set(valueCircles.map((circle) => circle.join()))
  expect(allCircles.filter((circle) => !values.has(circle.join()))).toEqual([])
})

it('no file has more than 500 lines, but for the IR', () => {
  const native = readdirSync(join(root, 'packages')).flatMap((name) =>
    sourceFiles(join(root, 'packages', name, 'native'), /\.(cpp|h|c)$/),
  )
  expect(native.length).toBeGreaterThan(40)
  const tooLong = [...files, ...native].filter(
    (file) => readFileSync(file, 'utf8').split('\n').length - 1 > 500,
  )
  expect(tooLong.map((file) => relative(root, file))).toEqual([ir])
})
