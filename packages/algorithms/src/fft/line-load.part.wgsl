
@compute @workgroup_size(WIDTH, HEIGHT)
fn transform(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let group = workgroup.y * grid.x + workgroup.x;
  if (group >= params.groups) {
    return;
  }
  let first_inner = (group % params.groups_across) * LINES;
  let above = group / params.groups_across;
  let middle = above % params.middle;
  let outer = above / params.middle;

  // Lines past the end read the last one, and store nothing.
  let read_inner = min(first_inner + LINE_0, params.inner - 1u);
  let read_at = params.input_base + outer * params.input_outer + middle * params.input_middle +
    read_inner * params.input_inner;
  var x_0: array<array<Complex, RADIX_0>, COUNT_0>;
  for (var u = 0u; u < COUNT_0; u++) {
    let j = INDEX_0(THREAD_0 + u * THREADS);
    for (var i = 0u; i < INPUTS; i++) {
      x_0[u][i] = load_point(read_at, PLACE_0(j, i));
    }
  }
