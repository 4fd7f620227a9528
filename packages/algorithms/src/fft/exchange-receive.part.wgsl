  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    for (var i = 0u; i < RADIX_s; i++) {
      let at = j + i * BUTTERFLIES_s;
      x_s[u][i].PART = TILE_s(at / ROW, at % ROW);
    }
  }
