// run: workgroups=1,1,1
// buffer par: u32[4] values(2, 5, 7, 0)
// buffer out: u32[128]
// Arrays with indices that are known at run time only, in the entry point and in functions: a compiler kept the
// first and the second in one place of memory, although the first is read after the second is written.

@group(0) @binding(0) var<uniform> par: vec4u;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> few: array<array<u32, 3>, 4>;
var<workgroup> counts: array<atomic<u32>, 64>;

fn second(a: u32, b: u32) -> u32 {
  return workgroupUniformLoad(&few[a & 3u])[b % 3u];
}

fn third(a: u32, b: u32, c: u32, i: u32) {
  var values = array<u32, 4>(a, b, c, i);
  values[a & 3u] += atomicLoad(&counts[i]);
  for (var k = 0u; k < (c & 3u); k++) {
    if (atomicLoad(&counts[i]) == 2u) {
      break;
    }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  if (i < 4u) {
    few[i] = array<u32, 3>(i, i + 10u, i + 20u);
  }
  var first = array<u32, 4>(4294967295u, 9u, 1u, i);
  let x = second(par.x, par.y);
  let y = first[(i ^ 1u) & 3u];
  if (i < 8u) {
    out[i + 64u] = par.z;
  }
  third(x, par.y, par.z, i);
  out[i] = x + y * 3u;
}
