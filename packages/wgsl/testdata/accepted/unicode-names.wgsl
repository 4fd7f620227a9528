// run: workgroups=1,1,1
// buffer out: u32[4]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn größe(Δ: u32) -> u32 { let 名前 = Δ + 1u; return 名前 * 2u; /* комментарий /* nested */ */ }

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = größe(i); // ünïcode
}
