/**
 * The order of scan-operation.part.wgsl, from its description, in f32. For tests; not part of the published
 * package.
 */
export function documentedScan(elements: Float32Array, exclusive: boolean): Float32Array {
  const f = Math.fround
  const add = (a: number, b: number) => f(a + b)
  const tiles = Math.ceil(elements.length / 4096)
  const at = (index: number) => (index < elements.length ? elements[index]! : -0)
  const sums = new Float32Array(tiles)
  const inTile = (tile: number) => {
    const lines: number[] = []
    const own: number[][] = []
    for (let line = 0; line < 32; line++) {
      const vectors: number[] = []
      for (let lane = 0; lane < 32; lane++) {
        const first = tile * 4096 + line * 128 + lane * 4
        vectors.push(add(add(add(at(first), at(first + 1)), at(first + 2)), at(first + 3)))
      }
      own.push(koggeStone(vectors))
      lines.push(own[line]![31]!)
    }
    return { own, lines: koggeStone(lines) }
  }
  for (let tile = 0; tile < tiles; tile++) sums[tile] = inTile(tile).lines[31]!
  const prefixes = documentedPrefixes(sums)
  const result = new Float32Array(elements.length)
  for (let tile = 0; tile < tiles; tile++) {
    const { own, lines } = inTile(tile)
    for (let i = 0; i < Math.min(4096, elements.length - tile * 4096); i++) {
      const [line, lane, place] = [i >> 7, (i >> 2) & 31, i & 3]
      const before = add(
        prefixes[tile]!,
        add(line > 0 ? lines[line - 1]! : -0, lane > 0 ? own[line]![lane - 1]! : -0),
      )
      const first = tile * 4096 + (i & ~3)
      let inVector = -0
      for (let k = 0; k < place + (exclusive ? 0 : 1); k++) inVector = add(inVector, at(first + k))
      const sum = add(inVector, before)
      result[tile * 4096 + i] = exclusive && sum === 0 ? (Object.is(sum, -0) ? 0 : sum) : sum
    }
  }
  return result
}

/** S + (G + T) before each tile. */
export function documentedPrefixes(sums: Float32Array): Float32Array {
  const add = (a: number, b: number) => Math.fround(a + b)
  const at = (index: number) => (index < sums.length ? sums[index]! : -0)
  const prefixes = new Float32Array(sums.length)
  let chain = -0
  for (let first = 0; first < sums.length; first += 1024) {
    const groups: number[] = []
    const own: number[][] = []
    for (let i = 0; i < 32; i++) {
      own.push(koggeStone(Array.from({ length: 32 }, (_, lane) => at(first + i * 32 + lane))))
      groups.push(own[i]![31]!)
    }
    const G = koggeStone(groups)
    for (let tile = first; tile < Math.min(sums.length, first + 1024); tile++) {
      const [i, lane] = [(tile - first) >> 5, tile & 31]
      const inSuper = add(i > 0 ? G[i - 1]! : -0, lane > 0 ? own[i]![lane - 1]! : -0)
      prefixes[tile] = add(chain, inSuper)
    }
    chain = add(chain, G[31]!)
  }
  return prefixes
}

function koggeStone(values: readonly number[]): number[] {
  let sums = [...values]
  for (let distance = 1; distance < 32; distance *= 2)
    sums = sums.map((sum, lane) => (lane >= distance ? Math.fround(sums[lane - distance]! + sum) : sum))
  return sums
}
