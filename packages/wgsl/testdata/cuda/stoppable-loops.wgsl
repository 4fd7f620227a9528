// run: workgroups=2,1,1
// buffer limits: u32[4] values(70, 3, 9, 0)
// buffer sums: u32[64]
// Endless loops have a meaning in WGSL, so nothing bounds them. With `stoppable` the loops that may run long look whether the host tells them to leave: this
// file's second translation.
@group(0) @binding(0) var<uniform> limits: vec4u;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> turns: array<u32, 32>;

fn collatz(start: u32) -> u32 {
  var steps = 0u;
  var value = start;
  while (value != 1u) {
    value = select(value / 2u, 3u * value + 1u, value % 2u == 1u);
    steps++;
  }
  return steps;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  var sum = 0u;
  // It comes to its end by a known step: chunks.
  for (var k = lane; k < limits.x; k += 4u) {
    if (k == 50u + lane) {
      break;
    }
    sum += k;
  }
  var rest = limits.y;
  for (; rest < limits.z; rest++) {
    sum += collatz(rest + lane);
  }
  // Short whatever the input: no look.
  for (var k = 0u; k < 8u; k++) {
    sum += k * rest;
  }
  loop {
    turns[lane] = sum;
    workgroupBarrier();
    sum += turns[31u - lane];
    workgroupBarrier();
    rest++;
    if (rest > 12u) {
      break;
    }
  }
  sums[id.x] = sum;
}
