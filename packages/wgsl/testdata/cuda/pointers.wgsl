// run: workgroups=1,1,1
// buffer data: f32[16] iota(0, 1)
// buffer out: f32[8]
// Pointers into module memory are resolved; those to local variables are references. Module variables are passed along.
struct Pair { first: f32, second: f32 }
@group(0) @binding(0) var<storage, read_write> data: array<f32, 16>;
@group(0) @binding(1) var<storage, read_write> out: array<f32, 8>;

var<private> total: f32 = 0.5;
const scale = array<f32, 3>(1.0, 10.0, 100.0);

fn bump(pair: ptr<function, Pair>, by: f32) {
  (*pair).first += by;
  total += (*pair).second;
}

fn largest(values: ptr<storage, array<f32, 16>, read_write>, start: u32) -> f32 {
  var most = (*values)[start];
  for (var i = start + 1u; i < start + 4u; i++) {
    most = max(most, (*values)[i]);
  }
  return most;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  var pair = Pair(f32(i), 2.0);
  bump(&pair, 3.0);
  let slot = &data[i * 4u];
  *slot += 100.0;
  out[i] = pair.first + total * scale[i % 3u];
  out[4u + i] = largest(&data, i * 4u);
}
