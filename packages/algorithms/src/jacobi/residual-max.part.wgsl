// The largest |next - u|. Bit patterns of floats that are not negative order as the floats do, with NaN above infinity, and a maximum
// is the same in any order: so are its bits, and a NaN is not lost.
@group(0) @binding(4) var<storage, read_write> residual: array<atomic<u32>>;

fn observe(change: u32, before: vec4<f32>, after: vec4<f32>, valid: u32) -> u32 {
  let bits = bitcast<vec4<u32>>(abs(after - before));
  var most = max(change, bits.x);
  if (valid > 1u) {
    most = max(most, bits.y);
  }
  if (valid > 2u) {
    most = max(most, bits.z);
  }
  if (valid > 3u) {
    most = max(most, bits.w);
  }
  return most;
}

fn finish(change: u32, thread: u32) {
  if (change != 0u) {
    atomicMax(&residual[params.residual_base], change);
  }
}
