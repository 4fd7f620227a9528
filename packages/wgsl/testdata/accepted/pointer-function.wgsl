// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
  let t = *a;
  *a = *b;
  *b = t;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a = i;
  var b = 100u;
  swap(&a, &b);
  let p = &a;
  *p += 5u;
  let q = p;
  *q *= 2u;
  out[i] = a + b * 1000u;
}
