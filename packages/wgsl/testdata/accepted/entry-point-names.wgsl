// run: workgroups=1,1,1 entry=kernel
// buffer out: u32[4]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn main() -> u32 { return 5u; }
fn min(a: u32) -> u32 { return a * 2u; }
fn vec3f(a: u32) -> u32 { return a + 100u; }

@compute @workgroup_size(4)
fn kernel(@builtin(local_invocation_index) i: u32) {
  out[i] = main() + min(i) + vec3f(i);
}

@compute @workgroup_size(1)
fn other() { out[0] = 1u; }
