// run: workgroups=2,1,1
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> a: array<u32, 64>;
var<workgroup> b: array<array<u32, 8>, 8>;
var<private> scratch: array<u32, 4>;

fn put(p: ptr<workgroup, u32>, v: u32) { *p = v; }
fn put_row(row: ptr<workgroup, array<u32, 8>>, k: u32, v: u32) { put(&(*row)[k], v); }
fn note(p: ptr<private, array<u32, 4>>, k: u32, v: u32) { (*p)[k] += v; }

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  put(&a[i], id.x * 3u);
  put_row(&b[i / 8u], i % 8u, i * i);
  workgroupBarrier();
  note(&scratch, i % 4u, a[63u - i]);
  note(&scratch, 1u, b[i % 8u][i / 8u]);
  out[id.x] = scratch[i % 4u] * 10u + scratch[1];
}
