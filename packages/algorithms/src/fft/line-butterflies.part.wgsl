  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    x_s[u] = butterfly_s(x_s[u], j);
  }
