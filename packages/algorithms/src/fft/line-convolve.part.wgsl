  // The spectrum is complete: its product with that of the chirp goes back through the same stages.
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    for (var i = 0u; i < RADIX_s; i++) {
      let factor = table[params.table_base + SPECTRUM + j + i * BUTTERFLIES_s];
      x_s[u][i] = multiply(x_s[u][i], factor).yx;
    }
  }
