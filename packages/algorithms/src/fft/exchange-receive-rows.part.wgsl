  // As exchange-receive, where butterflies fill whole rows of the tile: the distances between values are constants.
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    let high = j / ROW;
    let low = j % ROW;
    for (var i = 0u; i < RADIX_s; i++) {
      x_s[u][i].PART = TILE_s(high + i * (BUTTERFLIES_s / ROW), low);
    }
  }
