// As residual-max, with one global atomic a workgroup: for devices with fast barriers.
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

var<workgroup> most_of_workgroup: atomic<u32>;

fn finish(change: u32, thread: u32) {
  atomicMax(&most_of_workgroup, change);
  workgroupBarrier();
  if (thread == 0u) {
    atomicMax(&residual[params.residual_base], atomicLoad(&most_of_workgroup));
  }
}
