import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { emitCuda } from './emit-cuda.ts'
import { buildCpuProgram } from './testing/cpu-program.ts'
import { cpuJob, hasProgram, kernelCase, translateStoppable } from './testing/kernel-cases.ts'

const head = (size: string, more = '') => `${more}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<uniform> signed: i32;
@group(0) @binding(3) var<storage, read> halves: array<vec4u>;
var<workgroup> shared_words: array<u32, 256>;
var<workgroup> tile: array<vec4u, 64>;
fn hash(x: u32) -> u32 { var s = x; while (s != 1u) { s = select(3u * s + 1u, s / 2u, s % 2u == 0u); } return s; }
@compute @workgroup_size(${size}) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u)`

/** Functions without loops, of which each makes twice as many calls as the one before it. */
const multiplied = [
  'fn level0(x: u32) { out[x] += 1u; }',
  ...Array.from({ length: 40 }, (_, k) => `fn level${k + 1}(x: u32) { level${k}(x); level${k}(x + 1u); }`),
].join('\n')

function emit(
  body: string,
  {
    stoppable = true,
    size = '64',
    more = '',
  }: { stoppable?: boolean | 'start'; size?: string; more?: string } = {},
) {
  const module = lower(parseWgsl(`${head(size, more)} { ${body} }`))
  return emitCuda(module, { bounds: 'clamp', lineDirectives: false, stoppable })
}

/** The body of `main`, with `R` in place of numbers of rounds that are based on estimates. */
function mainText(body: string, options = {}): string {
  const { body: text } = emit(body, options).parts
  return text
    .slice(text.indexOf(') {\n', text.indexOf('main_(')) + 3)
    .replace(/\b(t\d (?:=|>=)|t\d\+\+ >=) \d+u/g, '$1 R')
}

/** The lines that look or count rounds between looks. */
function looks(body: string, options = {}): string[] {
  const main = mainText(body, options)
  return main.split('\n').filter((line) => /look| t0|--t0/.test(line))
}

describe('a stoppable kernel checks its stop word', () => {
  it('also if thousands of functions call each other in a chain', () => {
    const chain = Array.from({ length: 4000 }, (_, i) => `fn f${i + 1}(x: u32) { f${i}(x + 1u); }`)
    const more = `fn f0(x: u32) { while (out[x] == 7u) { } } ${chain.join('\n')}`
    expect(emit('f4000(i);', { more }).parts.body.match(/look\(stop_word\)/g)).toHaveLength(1)
  })

  it('when a function is called whose calls multiply, but not in one that is short', () => {
    const { body } = emit('level40(i);', { more: multiplied }).parts
    const looking = body.split('static __device__').filter((text) => text.includes('look(stop_word)'))
    const names = looking.map((text) => / (level\d+)_?\(/.exec(text)![1])
    const first = Number(names[0]!.slice(5))
    expect(names).toEqual(Array.from({ length: 41 - first }, (_, k) => `level${first + k}`))
    // A call of the first of them makes 2 to the power of `first` changes, 0.4 to 0.8 s by the estimate.
    expect(first).toBe(21)
    expect(emit('level40(i);', { more: multiplied, stoppable: 'start' }).parts.body).toContain('look_first(')
    expect(
      emit(`level${first - 1}(i);`, { more: multiplied.split(`fn level${first}(`)[0]! }).source,
    ).not.toContain('stop')
    // A subgroup may call such a function in part, and its matrices need all of it at every look.
    const matrices = endless['products of matrices']!
    const more = `${matrices[2]} ${multiplied}`
    expect(emit(`level40(i); ${matrices[1]}`, { more }).isStoppable).toBe(false)
  })

  it('between chunks of a loop that approaches its end by a known step, wherever its counter is declared', () => {
    expect(mainText('for (var k = i; k < n; k += 64u) { out[k] += 1u; }')).toContain(`
    unsigned k_ = i_;
    _Pragma("unroll 1") while (k_ < n_) {
      unsigned t0 = (n_ - k_ - 1u) / 64u;
      if (t0++ >= R) { t0 = R; look(stop_word); }
      _Pragma("unroll 4") for (; t0 != 0u; t0--, k_ += 64u) {
        KEPT_LOOP
        if (k_ < out_length) out_[k_] = out_[k_] + 1u;
      }
      if (k_ < n_) look(stop_word);
    }`)
    expect(mainText('var k = signed; for (; k >= 5; k--) { if (out[0] == 3u) { break; } }')).toContain(`
    _Pragma("unroll 1") while (k_ >= 5) {
      unsigned t0 = (unsigned)k_ - (unsigned)5;
      if (t0++ >= R) { t0 = R; look(stop_word); }
      _Pragma("unroll 4") for (; t0 != 0u; t0--, k_ = sub(k_, 1)) {
        KEPT_LOOP
        if (unknown(out_[min(0u, out_length - 1u)] == 3u)) {
          break;
        }
      }
      if (t0 != 0u) break;
    }`)
  })
  it('after a fixed number of rounds of any other loop', () => {
    expect(looks('loop { out[i] += 1u; if (out[i] == n) { break; } }')).toEqual([
      '  unsigned t0 = R;',
      '    if (--t0 == 0u) { t0 = R; look(stop_word); }',
    ])
    expect(looks('var k = n; while (k != 1u) { k = k * 7u; }')).toHaveLength(2)
    expect(looks('for (var k = 0u; k < n; k += n) { out[k] = 1u; }')).toHaveLength(2)
  })
  it('no sooner than a clock allows if a round may be far shorter than estimated', () => {
    expect(mainText('for (var k = 0u; k < n; k++) { out[k] = hash(k); }')).toContain(`
    unsigned t0 = look_clock();
    _Pragma("unroll 1") while (k_ < n_) {
      unsigned t1 = n_ - k_ - 1u;
      if (t1++ >= R) { t1 = R; if (look_is_due(t0)) look(stop_word); }
      _Pragma("unroll 1") for (; t1 != 0u; t1--, k_ += 1u) {`)
    // The condition also holds at the end of a shortened chunk, so without the clock there would be a look
    // for each chunk.
    const text = mainText('for (var k = i; k < n; k += 3u) { out[k] = hash(k); }')
    expect(text.match(/.*look\(stop_word\).*/g)).toEqual([
      '      if (t1++ >= R) { t1 = R; if (look_is_due(t0)) look(stop_word); }',
      '      if (k_ < n_) if (look_is_due(t0)) look(stop_word);',
    ])
  })
  it('by a clock alone, without chunks, if a round may be as long as the time between looks', () => {
    const long = 'for (var j = 0u; j < 4000u; j++) { atomicAdd(&counts[k % 9u], hash(j)); }'
    const more = 'var<workgroup> counts: array<atomic<u32>, 9>;'
    const text = mainText(`for (var k = i; k < n; k += 3u) { if (k == 5u) { ${long} } }`, { more })
    expect(text).toContain(`
  _Pragma("unroll 1") for (unsigned k_ = i_; k_ < n_; k_ += 3u) {
    KEPT_LOOP
    if (look_is_due(t0)) look(stop_word);`)
  })
  it('not in loops that are short for every input, whose text is that of a kernel that is not stoppable', () => {
    const body =
      'for (var k = 0u; k < min(n, 1000u); k++) { out[k] = 1u; } for (var s = 1u; s < 256u; s *= 2u) { out[s] = s; }'
    expect(emit(body).source).toBe(emit(body, { stoppable: false }).source)
    expect(emit(body).isStoppable).toBe(true)
    expect(emit(body, { stoppable: false }).isStoppable).toBe(false)
  })
  it('once, at its start, if it is known to end and has loops that may run long', () => {
    const long = 'for (var k = i; k < n; k += 64u) { out[k] += 1u; }'
    expect(looks(long, { stoppable: 'start' })).toEqual(['  look_first(stop_word);'])
    expect(emit(long, { stoppable: 'start' }).isStoppable).toBe(true)
    expect(emit(long, { stoppable: 'start' }).parameters.at(-1)).toMatchObject({ kind: 'stop-word-or-null' })
    const short = 'for (var k = 0u; k < 100u; k++) { out[k] = 1u; }'
    expect(emit(short, { stoppable: 'start' }).source).toBe(emit(short, { stoppable: false }).source)
    expect(emit(short, { stoppable: 'start' }).isStoppable).toBe(true)
  })
  it('after waiting for pending asynchronous copies', () => {
    const body =
      'tile[i] = halves[i]; for (var k = 1u; k != n; k *= 7u) { out[i] += 1u; } workgroupBarrier(); out[i] = tile[i ^ 1u].x;'
    expect(looks(body)[1]).toContain('look_after_copies(stop_word)')
  })
  it('together with its subgroup if it has subgroup matrices, and only in loops whose rounds a subgroup runs together', () => {
    const more = 'enable f16; enable chromium_experimental_subgroup_matrix;'
    const load = 'let m = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&halves, 0u, 2u);'
    expect(looks(`for (var k = 0u; k != n; k += 3u) { ${load} }`, { more })[1]).toContain(
      'look_together(stop_word)',
    )
    const alone = `${load} for (var k = 0u; k != i; k += 3u) { out[k] += 1u; }`
    expect(looks(alone, { more })).toEqual([])
    expect(emit(alone, { more }).parts.body).toContain('KEPT_LOOP')
    expect(emit(alone, { more }).isStoppable).toBe(false)
  })
})

/**
 * Bodies that never end, with the workgroup size: each kind of loop with each way in which invocations synchronize.
 */
const endless: Readonly<Record<string, readonly [size: string, body: string, enables?: string]>> = {
  'a loop without an end': ['64', 'loop { out[i] += 1u; continuing { break if n == 0u; } }'],
  'a condition that stays': ['64', 'while (n < 5u) { out[i] += 1u; }'],
  'a counter that wraps around': [
    '64',
    'for (var k = 0u; k < 4294967295u; k += 1073741824u) { out[i] += 1u; }',
  ],
  'a bound that no counter passes': ['64', 'var k = 0u; for (; k <= 4294967295u - n * 0u; k++) { }'],
  'a step of zero': ['64', 'for (var k = 0u; k < 9u; k += n & 0u) { out[i] += 1u; }'],
  'loops in loops': [
    '64',
    'for (var k = 0u; k < 4000000000u; k++) { for (var j = 0u; j < 4000000000u; j++) { out[i] += hash(j); } }',
  ],
  'a function': ['64', 'out[i] = hash(0u);'],
  'calls that multiply': ['64', 'level40(i);', multiplied],
  barriers: [
    '64',
    'while (n != 0u) { shared_words[i] += 1u; workgroupBarrier(); out[i] = shared_words[63u - i]; workgroupBarrier(); }',
  ],
  'a barrier behind loops that end at different times': [
    '64',
    'for (var k = 0u; k < 1000000u * i; k++) { out[i] += hash(3u); } workgroupBarrier(); while (n != 0u) { shared_words[i] += 1u; workgroupBarrier(); }',
  ],
  'asynchronous copies': [
    '64',
    'for (; n != 0u; ) { tile[i] = halves[i]; workgroupBarrier(); out[i] += tile[i ^ 1u].x; workgroupBarrier(); }',
  ],
  shuffles: [
    '64',
    'var x = i; while (n != 0u) { x += subgroupShuffle(x, (x + 1u) & 31u); }',
    'enable subgroups;',
  ],
  ballots: [
    '64',
    'var x = i; while (n != 0u) { x += countOneBits(subgroupBallot((x & 1u) == 0u).x); out[i] = x; }',
    'enable subgroups;',
  ],
  'shuffles and barriers': [
    '96',
    'var x = i; while (n != 0u) { x += subgroupAdd(x); workgroupBarrier(); shared_words[i] = x; }',
    'enable subgroups;',
  ],
  'products of matrices': [
    '64',
    `var c: subgroup_matrix_result<f32, 16, 16>; while (n != 0u) {
      let a = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&halves, 0u, 2u);
      let b = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&halves, 0u, 2u);
      c = subgroupMatrixMultiplyAccumulate(a, b, c); }`,
    'enable f16; enable chromium_experimental_subgroup_matrix;',
  ],
}

describe.skipIf(!hasProgram('g++'))('endless kernels on the CPU (needs g++)', () => {
  const test = `// run: workgroups=3,2,1
// buffer out: u32[256]
// buffer n: u32[1] values(1)
// buffer signed: i32[1]
// buffer halves: u32[256]
`
  it.each(Object.entries(endless))(
    'with %s end once their stop word is written',
    async (name, [size, body, more]) => {
      const stopped = kernelCase(name, `${test}${head(size, more)} { ${body} }`)
      // On the CPU, rounds take far longer than estimated for a GPU.
      const kernel = translateStoppable(stopped, 'clamp')
      expect(kernel.isStoppable).toBe(true)
      expect(kernel.parameters.at(-1)).toMatchObject({ kind: 'stop-word' })
      const program = await buildCpuProgram([kernel])
      const [result] = await program.run([cpuJob(stopped, kernel, 0, true)])
      expect(result).toHaveProperty('buffers')
    },
  )
  it('run to the end without a stop word, if they check it only where they begin', async () => {
    const inputs = test.replace('workgroups=3,2,1', 'workgroups=1,1,1').replace('values(1)', 'values(256)')
    const body = 'for (var k = i; k < n; k += 64u) { out[k] = 7u; }'
    const terminating = kernelCase('start', `${inputs}${head('64')} { ${body} }`)
    const kernel = emitCuda(terminating.module, {
      bounds: 'clamp',
      lineDirectives: false,
      stoppable: 'start',
    })
    const program = await buildCpuProgram([kernel])
    const jobs = [cpuJob(terminating, kernel, 0), cpuJob(terminating, kernel, 0, true)]
    const outputs = (await program.run(jobs)).map((result) => {
      const bytes = 'buffers' in result ? result.buffers[0]! : new Uint8Array()
      return [...new Set(new Uint32Array(bytes.slice().buffer))]
    })
    expect(outputs).toEqual([[7], [0]])
  })
})
