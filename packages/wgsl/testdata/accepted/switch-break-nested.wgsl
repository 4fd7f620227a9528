// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var result = 0u;
  switch i % 3u {
    case 0u: {
      if i > 10u { break; }
      result = 1u;
    }
    case 1u: {
      loop {
        result += 1u;
        if result > i % 5u { break; }
      }
      result += 100u;
    }
    default: {
      switch i % 2u {
        case 0u: { result = 50u; break; }
        default: { result = 60u; }
      }
      result += 5u;
    }
  }
  out[i] = result;
}
