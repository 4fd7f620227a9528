  // Stage p to stage s.
  for (var u = 0u; u < COUNT_p; u++) {
    IF_p (THREAD_p + u * THREADS < BUTTERFLIES_p) {
    for (var i = 0u; i < RADIX_p; i++) {
      TILE_p(THREAD_p + u * THREADS, i) = x_p[u][i].PART;
    }
    }
  }
