// run: workgroups=2,1,1 constants=SIZE:16,7:3,SCALE:0.5
// buffer out: f32[32]

override SIZE: u32 = 64;
@id(7) override COUNT: i32 = 1;
override SCALE = 2.0;
override DOUBLE = SIZE * 2u;
override ENABLED: bool = true;
override UNUSED: f32 = 1.0 / 3.0;

var<workgroup> tile: array<f32, SIZE>;
var<workgroup> pairs: array<vec2f, DOUBLE / 2>;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(SIZE)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
  tile[i] = f32(i) * SCALE;
  pairs[i] = vec2f(f32(COUNT), f32(DOUBLE));
  workgroupBarrier();
  if ENABLED {
    out[group.x * SIZE + i] = tile[SIZE - 1u - i] + pairs[(i + 1u) % SIZE].x * 100.0 + pairs[0].y;
  }
}
