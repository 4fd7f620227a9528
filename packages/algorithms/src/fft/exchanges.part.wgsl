//// first
  // Stage p to stage s.
  for (var u = 0u; u < COUNT_p; u++) {
    IF_p (THREAD_p + u * THREADS < BUTTERFLIES_p) {
    for (var i = 0u; i < RADIX_p; i++) {
      TILE_p(THREAD_p + u * THREADS, i) = x_p[u][i].PART;
    }
    }
  }
//// send
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
//// sendRows
  // Stage p to stage s, where the distance between values is that of whole rows of the tile.
  for (var u = 0u; u < COUNT_p; u++) {
    let j = THREAD_p + u * THREADS;
    IF_p (j < BUTTERFLIES_p) {
    let to = (j / BEFORE_p) * (BEFORE_p * RADIX_p) + j % BEFORE_p;
    let high = to / ROW;
    let low = to % ROW;
    for (var i = 0u; i < RADIX_p; i++) {
      TILE_p(high + i * (BEFORE_p / ROW), low) = x_p[u][i].PART;
    }
    }
  }
//// sendMirror
  // Mirrored values to stage s. Value POINTS has a place that nothing reads.
  for (var u = 0u; u < COUNT_p; u++) {
    let j = THREAD_p + u * THREADS;
    IF_p (j < BUTTERFLIES_p) {
    for (var i = 0u; i < RADIX_p; i++) {
      let at = PLACE_p(j, i);
      TILE_p(at / ROW, at % ROW) = x_p[u][i].PART;
    }
    }
  }
//// receive
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    for (var i = 0u; i < RADIX_s; i++) {
      let at = PLACE_s(j, i);
      x_s[u][i].PART = TILE_s(at / ROW, at % ROW);
    }
  }
//// receiveRows
  // As exchange-receive, where butterflies fill whole rows of the tile: the distances between values are constants.
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    let high = j / ROW;
    let low = j % ROW;
    for (var i = 0u; i < RADIX_s; i++) {
      x_s[u][i].PART = TILE_s(high + i * (BUTTERFLIES_s / ROW), low);
    }
  }
