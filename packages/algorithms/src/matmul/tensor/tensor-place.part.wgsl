// Where a tensor-core product finds its tile of C, TILE_M × TILE_N.

const BAND = 1024u / TILE_M; // tile rows that run one after another share columns of B in the cache

// Row and column of a workgroup's tile among the tiles; past the last one, a row that is too large.
fn tile_place(tile: u32) -> vec2<u32> {
  let across = (params.n + TILE_N - 1u) / TILE_N;
  let down = (params.m + TILE_M - 1u) / TILE_M;
  let band = tile / (BAND * across);
  if (band * BAND >= down) {
    return vec2<u32>(down, 0u);
  }
  let band_rows = min(down - band * BAND, BAND);
  let within = tile - band * BAND * across;
  return vec2<u32>(band * BAND + within % band_rows, within / band_rows);
}
