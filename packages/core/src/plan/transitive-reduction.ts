/**
 * Removes from each node's predecessors those that are ancestors of another predecessor. Nodes are numbered
 * in a topological order. The result is the unique transitive reduction of the graph; each list ascends.
 *
 * Nodes are divided into chains (a node extends the chain of a predecessor that is the chain's end), and a
 * node's ancestors are stored as the furthest position that it reaches on each chain (Jagadish, "A
 * compression technique to materialize transitive closure", TODS 1990). A node with one predecessor stores
 * only that predecessor, so most nodes need no list.
 */
export function transitiveReduction(predecessors: readonly (readonly number[])[]): number[][] {
  const count = predecessors.length
  const chainOf = new Int32Array(count)
  const positionOf = new Int32Array(count)
  const lengths: number[] = []
  const reaches: Reach[] = new Array(count)
  // For the current node: the furthest position known to be reached on each chain, stamped with the node.
  // These are typed arrays because chains are first accessed in any order, and an ordinary array with gaps
  // becomes a dictionary.
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
      // A common case: a command that overwrites memory follows the memory's last reader, which follows the
      // others, so the ancestors of that reader need not be walked.
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
      // The node also reaches what the earlier nodes of its chain reach; sharing their list keeps walks along
      // chains short.
      if (reach === extended) reaches[node] = reaches[extended]!
    }
  }
  return reduced
}

/** Whether an ascending list contains a value. */
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
 * A node's ancestors outside its own chain: none (-1), one predecessor and its ancestors, or (chain,
 * position) pairs.
 */
type Reach = number | readonly number[]
const none = -1
