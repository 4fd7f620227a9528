// run: workgroups=3,1,1
// buffer source: u32[192] random
// buffer result: u32[768]

// With all calls expanded this kernel has more statements than are inlined, so that its long functions are called: with
// structures, vectors, bools and pointers to each kind of memory, and with several returns.
struct State { words: vec3u, count: u32, even: bool }

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4u>;

var<private> calls: u32;
var<workgroup> votes: array<atomic<u32>, 8>;
var<workgroup> tile: array<vec2u, 64>;

fn step(state: State, at: u32) -> State {
  var next = state;
  next.count += 1u;
  next.words = next.words.yzx;
  next.words.x ^= at;
  next.words.y += calls;
  next.words *= 747796405u;
  next.even = (next.words.z & 64u) == 0u;
  next.count ^= next.words.x >> 28u;
  calls += 3u;
  return next;
}

fn four(state: State, at: u32, total: ptr<function, vec4u>) -> State {
  var next = step(step(state, at), at + 1u);
  (*total).x += next.count;
  next = step(step(next, at >> 1u), 7u);
  (*total).y ^= next.words.z;
  return next;
}

fn is_even(state: State, total: ptr<function, vec4u>) -> bool {
  (*total).w += state.count;
  if state.count > 3000000000u { return state.words.x > 7u; }
  return state.even;
}

fn sixteen(state: State, at: u32, total: ptr<function, vec4u>, mine: ptr<workgroup, vec2u>) -> State {
  var next = four(four(state, at, total), at + 7u, total);
  if is_even(next, total) { (*mine).x += next.words.y; }
  next = four(four(next, at, total), at * 3u, total);
  (*mine)[at & 1u] ^= next.words.x;
  return next;
}

fn vote(state: State, slot: u32) -> u32 {
  if state.even { return atomicAdd(&votes[slot & 7u], state.words.x & 15u) & 0u; }
  return state.count;
}

fn many(state: State, at: u32, total: ptr<function, vec4u>, mine: ptr<workgroup, vec2u>) -> State {
  if state.count == 4294967295u { return state; }
  let next = sixteen(sixteen(state, at, total, mine), at + 1u, total, mine);
  (*total).x += vote(next, at);
  return sixteen(sixteen(next, at + 2u, total, mine), at + 3u, total, mine);
}

fn exchange(li: u32, state: State) -> vec2u {
  workgroupBarrier();
  let other = tile[63u - li];
  workgroupBarrier();
  return other + vec2u(state.count, state.words[li % 3u]);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) li: u32, @builtin(global_invocation_id) id: vec3u) {
  let seed = source[id.x];
  var total = vec4u(1u);
  var state = many(State(vec3u(seed, li, 3u), seed & 3u, true), seed % 11u, &total, &tile[li]);
  state = many(many(state, 5u, &total, &tile[li]), 6u, &total, &tile[li]);
  let other = exchange(li, state);
  total.z += atomicLoad(&votes[li & 7u]);
  result[id.x] = total + vec4u(other, calls, state.words.z);
}
