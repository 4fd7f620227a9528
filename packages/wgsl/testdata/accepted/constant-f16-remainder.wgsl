// Constant remainders of f16 whose quotient is beyond the largest f16.
// run: workgroups=1,1,1
// buffer output: f32[4]
enable f16;
@group(0) @binding(0) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(1)
fn main() {
  output[0] = f32(-65504.0h % -0.5h);
  output[1] = f32(-65504.0h % 0.78515625h);
  output[2] = f32(40000.0h % 0.1875h);
  output[3] = f32(7.5h % 2.0h);
}
