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
