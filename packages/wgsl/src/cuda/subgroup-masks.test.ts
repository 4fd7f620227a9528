import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { validitySource } from '../testing/validity-cases.ts'
import { emitCuda } from './emit-cuda.ts'

/** The masks of the calls of `subgroupAdd` and `subgroupShuffleUp`, in order. */
function masks(text: string): (string | undefined)[] {
  const { body } = emitCuda(lower(parseWgsl(validitySource(text))), { bounds: 'clamp' }).parts
  return [...body.matchAll(/subgroup(?:Add|ShuffleUp)\(([^,]*),/g)].map((match) => match[1])
}

const all = '0xffffffffu'
const off = '@diagnostic(off, subgroup_uniformity)'

describe('the mask of a subgroup operation', () => {
  it('names all lanes without a filter: the module was accepted, so all are active', () => {
    expect(masks('if (sid == 0) { o[0] = subgroupAdd(1u); }')).toEqual([all])
    expect(masks('var s = 0u; for (var k = 0u; k < 64; k += num.x) { s += subgroupAdd(1u); }')).toEqual([all])
    expect(
      masks(
        'fn f(x: u32) -> u32 { return subgroupAdd(x); } ### o[f(1)] = 1; if (r[0] == ov) { o[1] = f(2); }',
      ),
    ).toEqual([all])
  })

  it('names all lanes with a filter if the analysis proves that all are active', () => {
    expect(masks(`${off} if (wid.x == 0) { o[0] = subgroupAdd(1u); }`)).toEqual([all])
    expect(masks(`${off} { o[0] = subgroupShuffleUp(1u, w[li]); }`)).toEqual([all])
  })

  it('names the active lanes if a filter allows only a part of a subgroup to make the call', () => {
    const counter = `var s = 0u; ${off} for (var k = 0u; k < 64; k += lane + 1) { s += subgroupAdd(1u); }`
    expect(masks(counter)).toEqual(['active_lanes(0)'])
    const target = `${off} fn f(x: u32) -> u32 { return subgroupAdd(x); } ### if (lane < 5) { o[f(1)] = 1; }`
    expect(masks(target)).toEqual(['active_lanes(0)'])
    expect(masks(`if (lane == 0) { return; } ${off} { o[0] = subgroupAdd(1u); }`)).toEqual([
      'active_lanes(0)',
    ])
    expect(masks(`${off} { if (lane < 5) { o[0] = subgroupAdd(1u); } o[1] = subgroupAdd(2u); }`)).toEqual([
      'active_lanes(0)',
      all,
    ])
  })
})
