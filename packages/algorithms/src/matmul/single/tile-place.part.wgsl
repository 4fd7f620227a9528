// How the bodies that make tiles divide C: a workgroup of TX × TY invocations makes a tile of 4·A_BLOCKS·TY rows by 4·B_BLOCKS·TX columns, an
// invocation A_BLOCKS × B_BLOCKS blocks of 4 × 4 of it. Rows and columns past the edge are computed and not stored.

const THREADS = TX * TY;
const DEPTH = 8u; // of the tiles of A and B in k
const A_GROUPS = TY * A_BLOCKS; // groups of four rows in the tile of A
const B_GROUPS = TX * B_BLOCKS;
const BAND = 8u; // tile rows that run one after another share columns of B in the cache

fn tiles_across() -> u32 {
  return (params.n + B_GROUPS * 4u - 1u) / (B_GROUPS * 4u);
}

fn tiles_down() -> u32 {
  return (params.m + A_GROUPS * 4u - 1u) / (A_GROUPS * 4u);
}

// Row and column of a workgroup's tile among the tiles.
fn tile_place(tile: u32) -> vec2<u32> {
  let tiles_n = tiles_across();
  let band = tile / (BAND * tiles_n);
  let band_rows = min(tiles_down() - band * BAND, BAND);
  let within = tile - band * BAND * tiles_n;
  return vec2<u32>(band * BAND + within % band_rows, within / band_rows);
}

// Where in the tile an invocation's first block lies, in groups of four rows and columns: 32 consecutive threads cover 8 × 4 blocks, in an
// order in which neighbours share addresses when they read the tiles.
fn block_row(thread: u32) -> u32 {
  let lane = thread % 32u;
  return (thread / 32u / (TX / 8u)) * 4u + ((lane >> 1u) & 1u) + ((lane >> 3u) & 2u);
}

fn block_column(thread: u32) -> u32 {
  let lane = thread % 32u;
  return ((thread / 32u) % (TX / 8u)) * 8u + (lane & 1u) + ((lane >> 1u) & 6u);
}

// Stores an invocation's sums: row and column of its first block in groups of four, and the rows of the parts of k before its own.
fn store_blocks(c: ptr<function, Block>, first_row: u32, first_column: u32, before: u32) {
  for (var i = 0u; i < A_BLOCKS; i++) {
    for (var q = 0u; q < 4u; q++) {
      let row = (first_row + i * TY) * 4u + q;
      if (row < params.m) {
        for (var j = 0u; j < B_BLOCKS; j++) {
          store_c4(before + row, first_column + j * TX, (*c)[(i * 4u + q) * B_BLOCKS + j]);
        }
      }
    }
  }
}
