  let write_inner = first_inner + LINE_s;
  if (write_inner < params.inner) {
    let to = params.output_base + outer * params.output_outer + middle * params.output_middle +
      write_inner * params.output_inner;
    let column = select(middle, write_inner, params.inner_columns != 0u);
    for (var u = 0u; u < COUNT_s; u++) {
      let j = THREAD_s + u * THREADS;
      IF_s (j < BUTTERFLIES_s) {
      for (var i = 0u; i < OUTPUTS; i++) {
        let k = PLACE_s(j, i);
        store_point(to, k, column, x_s[u][i]);
      }
      }
    }
  }
}
