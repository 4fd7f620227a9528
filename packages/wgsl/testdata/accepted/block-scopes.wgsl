// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let x = 1u;
  {
    let x = x + i;
    {
      var x = x * 2u;
      x++;
      out[i] = x;
    }
    out[i] += x;
  }
  out[i] += x * 10000u;
}
