  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    for (var i = 0u; i < RADIX_s; i++) {
      let at = PLACE_s(j, i);
      x_s[u][i].PART = TILE_s(at / ROW, at % ROW);
    }
  }
