// run: workgroups=1,1,1
// buffer rows: u32[16] iota(0, 3)
// buffer counters: u32[8] iota(1)
// buffer output: u32[32]
@group(0) @binding(0) var<storage, read_write> rows: array<vec4u, 4>;
@group(0) @binding(1) var<storage, read_write> counters: array<atomic<u32>, 8>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
var<private> count: u32;
var<workgroup> shared_rows: array<vec4u, 4>;

// The indices of a place, left to right, come before the value that is stored there and before the load.
fn next() -> u32 { count += 1u; return count & 3u; }
fn step(p: ptr<function, u32>) -> u32 { *p += 1u; return *p & 3u; }
fn step_first(p: ptr<function, vec4u>) -> u32 { (*p).x += 1u; return (*p).x & 3u; }
fn put(p: ptr<function, u32>, value: u32, result: u32) -> u32 { *p = value; return result; }

@compute @workgroup_size(1)
fn main() {
  var k = 0u;
  var v = vec4u(5u, 6u, 7u, 8u);
  var own: array<array<u32, 4>, 4>;
  for (var i = 0u; i < 16u; i++) {
    own[i / 4u][i % 4u] = i * 7u;
    shared_rows[i / 4u][i % 4u] = i * 11u;
  }
  output[0] = rows[next()][next()];
  output[1] = shared_rows[count & 3u][next()];
  output[2] = rows[step(&k)][k & 3u] + own[k & 3u][step(&k)];
  output[3] = v[step_first(&v)];
  v[step_first(&v)] = v.x;
  output[4u + next()] = count;
  own[next()][next() % 3u] = own[count & 3u][1];
  rows[step(&k)][k & 1u] = k;
  shared_rows[next()][count & 3u] = count + k;
  atomicStore(&counters[next()], count);
  output[8] = atomicAdd(&counters[next()], count);
  output[9] = atomicCompareExchangeWeak(&counters[next()], atomicLoad(&counters[count & 7u]), next()).old_value;
  output[10] = put(&own[next()][next()], count, next());
  for (var i = 0u; i < 4u; output[11u + next()] = count) { i++; }
  output[16u + atomicAdd(&counters[0], 1u)] = atomicLoad(&counters[0]);
  for (var i = 0u; i < 4u; i++) {
    output[20u + i] = own[i][i] + own[3u - i][i] * 1000u;
    output[24u + i] = shared_rows[i][i] + shared_rows[i][3u - i] * 1000u;
    output[28u + i] = v[i];
  }
}
