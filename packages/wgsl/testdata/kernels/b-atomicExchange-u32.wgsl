// run: workgroups=1,1,1
// buffer out: u32[4] values(5, 6, 7, 8)

struct Cell {
  state: atomic<u32>,
  old: u32,
}
@group(0) @binding(0) var<storage, read_write> out: array<Cell, 2>;

@compute @workgroup_size(1)
fn main() {
  out[0].old = atomicExchange(&out[0].state, 40);
  atomicStore(&out[1].state, atomicLoad(&out[0].state) + out[0].old);
  out[1].old = atomicExchange(&out[1].state, 3);
}
