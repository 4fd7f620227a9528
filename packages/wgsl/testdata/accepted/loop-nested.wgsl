// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var count = 0u;
  for (var a = 0u; a < 5u; a++) {
    var b = 0u;
    loop {
      if b > a { break; }
      for (var c = 0u; ; c++) {
        if c == b { break; }
        if (a + b + c) % 2u == i % 2u { continue; }
        count += 1u;
      }
      continuing { b++; }
    }
  }
  out[i] = count;
}
