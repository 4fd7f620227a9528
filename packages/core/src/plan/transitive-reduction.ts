/**
 * Removes from each node's predecessors those that another predecessor already follows. Nodes are numbered in
 * a topological order. The result is the unique transitive reduction of the graph; each list ascends.
 *
 * Nodes are strung on chains (a node extends the chain of a predecessor that is its end), and a node's
 * ancestors are stored as the furthest position it reaches on each chain (Jagadish, "A compression technique
 * to materialize transitive closure", TODS 1990). A node with one predecessor stores only that: most nodes
 * cost nothing.
 */
export function transitiveReduction(predecessors: readonly (readonly number[])[]): number[][] {
  const count = predecessors.length
  const chainOf = new Int32Array(count)
  const positionOf = new Int32Array(count)
  const lengths: number[] = []
  const reaches: Reach[] = new Array(count)
  // While one node is looked at: the furthest position known to be reached on each chain, stamped with the
  // node. Typed, because chains are first looked at in any order: an array with gaps becomes a dictionary.
  const furthest = new Int32Array(count)
  const stamp = new Int32Array(count).fill(-1)
  const reduced: number[][] = new Array(count)

  for (let node = 0; node < count; node++) {
    const candidates = predecessors[node]!
    const last = candidates.reduce((most, other) => Math.max(most, other), -1)
    let kept: number[]
    let reach: Reach = none
    if (candidates.length <= 1) {
      kept = candidates.slice()
      if (kept.length === 1) reach = kept[0]!
    } else if (
      candidates.every(
        (other) => other === last || chainOf[other] === chainOf[last] || includes(reduced[last]!, other),
      )
    ) {
      // What overwrites memory follows its last reader, which follows the others: no need to walk all that
      // the reader follows.
      kept = [last]
      reach = last
    } else {
      const touched: number[] = []
      const mark = (chain: number, position: number): boolean => {
        if (stamp[chain] !== node) {
          stamp[chain] = node
          touched.push(chain)
        } else if (furthest[chain]! >= position) return false
        furthest[chain] = position
        return true
      }
      kept = []
      for (const candidate of candidates.slice().sort((a, b) => b - a)) {
        const chain = chainOf[candidate]!
        if (stamp[chain] === node && furthest[chain]! >= positionOf[candidate]!) continue
        kept.push(candidate)
        let current = candidate
        while (mark(chainOf[current]!, positionOf[current]!)) {
          const further: Reach = reaches[current]!
          if (typeof further === 'number') {
            if (further < 0) break
            current = further
            continue
          }
          for (let i = 0; i < further.length; i += 2) mark(further[i]!, further[i + 1]!)
          break
        }
      }
      kept.reverse()
      if (kept.length === 1) reach = kept[0]!
      else {
        const pairs: number[] = []
        for (const chain of touched) pairs.push(chain, furthest[chain]!)
        reach = pairs
      }
    }
    reduced[node] = kept
    reaches[node] = reach
    const extended = kept.find((p) => positionOf[p] === lengths[chainOf[p]!]! - 1)
    if (extended === undefined) {
      chainOf[node] = lengths.length
      lengths.push(1)
    } else {
      chainOf[node] = chainOf[extended]!
      positionOf[node] = lengths[chainOf[extended]!]!++
      // The node also reaches what the earlier nodes of its chain reach; sharing that list keeps chains short
      // to walk.
      if (reach === extended) reaches[node] = reaches[extended]!
    }
  }
  return reduced
}

/** Whether an ascending list holds a value. */
function includes(ascending: readonly number[], value: number): boolean {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! < value) low = middle + 1
    else high = middle
  }
  return ascending[low] === value
}

/**
 * Ancestors beyond the node's own chain: none (-1), those of one predecessor and itself, or (chain, position)
 * pairs.
 */
type Reach = number | readonly number[]
const none = -1
