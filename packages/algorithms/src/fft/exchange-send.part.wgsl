  // Stage p to stage s.
  for (var u = 0u; u < COUNT_p; u++) {
    let j = THREAD_p + u * THREADS;
    IF_p (j < BUTTERFLIES_p) {
    let to = (j / BEFORE_p) * (BEFORE_p * RADIX_p) + j % BEFORE_p;
    for (var i = 0u; i < RADIX_p; i++) {
      let at = to + i * BEFORE_p;
      TILE_p(at / ROW, at % ROW) = x_p[u][i].PART;
    }
    }
  }
