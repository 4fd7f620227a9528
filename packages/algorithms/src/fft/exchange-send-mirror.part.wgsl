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
