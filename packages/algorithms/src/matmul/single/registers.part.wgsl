// Register-blocked product for software adapters, where barriers are slow: a thread makes 4 × 4 elements of C in registers and
// uses no workgroup memory. Each element sums its products in ascending k.

@compute @workgroup_size(8, 8)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let blocks_n = (params.n + 31u) / 32u;
  let linear = workgroup.y * workgroups.x + workgroup.x;
  let row = (linear / blocks_n) * 32u + local.y * 4u;
  let column4 = (linear % blocks_n) * 8u + local.x;
  if (row >= params.m || column4 * 4u >= params.n) {
    return;
  }
  // Rows past the edge repeat the last one and are not stored.
  let row_1 = min(row + 1u, params.m - 1u);
  let row_2 = min(row + 2u, params.m - 1u);
  let row_3 = min(row + 3u, params.m - 1u);
  var c0 = vec4<Element>();
  var c1 = vec4<Element>();
  var c2 = vec4<Element>();
  var c3 = vec4<Element>();
  let blocks_k = params.k / 4u;
  for (var k4 = 0u; k4 < blocks_k; k4++) {
    let a0 = load_a4(row, k4);
    let a1 = load_a4(row_1, k4);
    let a2 = load_a4(row_2, k4);
    let a3 = load_a4(row_3, k4);
    let b0 = load_b4(k4 * 4u, column4);
    c0 = multiply_add(a0.x, b0, c0);
    c1 = multiply_add(a1.x, b0, c1);
    c2 = multiply_add(a2.x, b0, c2);
    c3 = multiply_add(a3.x, b0, c3);
    let b1 = load_b4(k4 * 4u + 1u, column4);
    c0 = multiply_add(a0.y, b1, c0);
    c1 = multiply_add(a1.y, b1, c1);
    c2 = multiply_add(a2.y, b1, c2);
    c3 = multiply_add(a3.y, b1, c3);
    let b2 = load_b4(k4 * 4u + 2u, column4);
    c0 = multiply_add(a0.z, b2, c0);
    c1 = multiply_add(a1.z, b2, c1);
    c2 = multiply_add(a2.z, b2, c2);
    c3 = multiply_add(a3.z, b2, c3);
    let b3 = load_b4(k4 * 4u + 3u, column4);
    c0 = multiply_add(a0.w, b3, c0);
    c1 = multiply_add(a1.w, b3, c1);
    c2 = multiply_add(a2.w, b3, c2);
    c3 = multiply_add(a3.w, b3, c3);
  }
  for (var k = blocks_k * 4u; k < params.k; k++) {
    let b0 = load_b4(k, column4);
    c0 = multiply_add(load_a(row, k), b0, c0);
    c1 = multiply_add(load_a(row_1, k), b0, c1);
    c2 = multiply_add(load_a(row_2, k), b0, c2);
    c3 = multiply_add(load_a(row_3, k), b0, c3);
  }
  store_c4(row, column4, c0);
  if (row + 1u < params.m) {
    store_c4(row + 1u, column4, c1);
  }
  if (row + 2u < params.m) {
    store_c4(row + 2u, column4, c2);
  }
  if (row + 3u < params.m) {
    store_c4(row + 3u, column4, c3);
  }
}
