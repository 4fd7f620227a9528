/** y = factor * x + addend over a two-dimensional view. */
export const scale = `
struct Params {
  x_base: u32, x_stride: u32,
  y_base: u32, y_stride: u32, y_rows: u32, y_columns: u32,
  factor: f32, addend: f32,
}
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(8, 8)
fn scale(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.y_columns || id.y >= params.y_rows) { return; }
  let source = params.x_base + id.y * params.x_stride + id.x;
  let goal = params.y_base + id.y * params.y_stride + id.x;
  y[goal] = params.factor * x[source] + params.addend;
}`

/** y = 3 y + x + addend on u32, wrapping: exact everywhere. */
export const accumulate = `
struct Params { x_base: u32, y_base: u32, y_length: u32, addend: u32 }
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn accumulate(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.y_length) { return; }
  let i = params.y_base + id.x;
  y[i] = 3u * y[i] + x[params.x_base + id.x] + params.addend;
}`

/** y = 255 - x on bytes, four in a word; bytes beyond the last element take part. */
export const invertBytes = `
struct Params { x_base: u32, x_length: u32, y_base: u32 }
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn invert(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= (params.x_length + 3u) / 4u) { return; }
  y[params.y_base + id.x] = ~x[params.x_base + id.x];
}`

/** Writes the number of elements that are bound. */
export const boundLength = `
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1)
fn main() { x[0] = arrayLength(&x); }`

/** Sums of two vec4 views. */
export const addVectors = `
struct Params { a_base: u32, b_base: u32, sum_base: u32, sum_length: u32 }
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> sum: array<vec4f>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.sum_length / 4) { return; }
  sum[params.sum_base + id.x] = a[params.a_base + id.x] + b[params.b_base + id.x];
}`

export const histogram = `
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

@compute @workgroup_size(64)
fn count(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x)) { atomicAdd(&counts[x[id.x] % 10u], 1u); }
}`

/** One workgroup's sum, through workgroup memory and barriers; an override sets the width. */
export const workgroupSum = `
override width: u32 = 32;
var<workgroup> parts: array<u32, width>;
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(width)
fn sum(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3u) {
  parts[lane] = x[id.x];
  for (var step = width / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) { parts[lane] += parts[lane + step]; }
  }
  if (lane == 0u) { sums[group.x] = parts[0]; }
}`

/** A structure of several types in storage, vectors among the uniforms. */
export const state = `
struct State { count: atomic<u32>, scale: f32, values: array<vec2i> }
struct Params { offset: vec2i, limit: i32 }
@group(0) @binding(0) var<storage, read_write> state: State;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(4)
fn step(@builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&state.count, 1u);
  if (id.x == 0u) { state.scale = state.scale * 2.0; }
  if (i32(id.x) < params.limit) { state.values[id.x] += params.offset; }
}`

export const halves = `
enable f16;
struct Params { x_base: u32, y_base: u32, y_length: u32, factor: f16 }
@group(0) @binding(0) var<storage, read> x: array<f16>;
@group(0) @binding(1) var<storage, read_write> y: array<f16>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(32)
fn scale(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.y_length) { y[params.y_base + id.x] = params.factor * x[params.x_base + id.x]; }
}`
