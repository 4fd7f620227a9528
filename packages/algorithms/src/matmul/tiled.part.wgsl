// Register-blocked product for GPUs: a workgroup of TX × TY invocations makes a tile of 4·A_BLOCKS·TY rows by 4·B_BLOCKS·TX columns, an
// invocation A_BLOCKS × B_BLOCKS blocks of 4 × 4 of it. Tiles of A and B, 8 deep in k, are double-buffered in workgroup memory. What
// comes next is always on its way: tiles from memory to registers while a whole turn of eight steps runs, and the operands of a step
// from workgroup memory while the step before it runs, across the barrier too. Each element of C sums its products in ascending k,
// in one accumulator: the bits do not depend on the tile's shape. Rows and columns past the edge load the last valid one and are not
// stored, and only the last two turns look at the end of k.
//
// The host puts in front the constants TX, TY, A_BLOCKS, B_BLOCKS, each a power of two: TX and TY at least 8, TX · TY at least 64.

const THREADS = TX * TY;
const DEPTH = 8u;
const A_GROUPS = TY * A_BLOCKS; // groups of four rows in the tile of A
const B_GROUPS = TX * B_BLOCKS;
const A_LOADS = A_GROUPS * DEPTH / THREADS; // groups that one invocation brings in
const B_LOADS = B_GROUPS * DEPTH / THREADS;
const BAND = 8u; // tile rows that run one after another share columns of B in the cache

// Group g of row k lies at g xor 4·(k mod 2): a quarter of a warp stores four groups of two rows without a bank conflict.
var<workgroup> tile_a: array<vec4<Element>, A_GROUPS * DEPTH * 2u>;
var<workgroup> tile_b: array<vec4<Element>, B_GROUPS * DEPTH * 2u>;

// Of one invocation: what it loads of each pair of tiles, four rows of A at one k and four columns of B at one k a load.
struct Source {
  a_rows: array<vec4<u32>, A_LOADS>,
  a_k: u32,
  b_k: u32,
  b_column: u32,
  a_slot: u32,
  b_slot: u32,
}

struct Loaded {
  a: array<vec4<Element>, A_LOADS>,
  b: array<vec4<Element>, B_LOADS>,
}

fn row_offsets(first: u32) -> vec4<u32> {
  let rows = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(params.m - 1u));
  return vec4<u32>(params.a_base) + rows * params.a_stride;
}

// The tiles from k on; what lies past `last`, the last valid k, is that one.
fn load_tiles(source: Source, k: u32, last: u32) -> Loaded {
  var loaded: Loaded;
  let a_k = min(k + source.a_k, last);
  for (var i = 0u; i < A_LOADS; i++) {
    let at = source.a_rows[i] + vec4<u32>(a_k);
    loaded.a[i] = vec4<Element>(a[at.x], a[at.y], a[at.z], a[at.w]);
  }
  for (var i = 0u; i < B_LOADS; i++) {
    loaded.b[i] = load_b4(min(k + source.b_k + i * (THREADS / B_GROUPS), last), source.b_column);
  }
  return loaded;
}

// Zeros where k is past `last`.
fn zero_past(loaded: Loaded, source: Source, k: u32, last: u32) -> Loaded {
  var result = loaded;
  for (var i = 0u; i < A_LOADS; i++) {
    if (k + source.a_k > last) {
      result.a[i] = vec4<Element>();
    }
  }
  for (var i = 0u; i < B_LOADS; i++) {
    if (k + source.b_k + i * (THREADS / B_GROUPS) > last) {
      result.b[i] = vec4<Element>();
    }
  }
  return result;
}

fn load_operands(ty: u32, tx: u32, buffer: u32, step: u32) -> Operands {
  var operands: Operands;
  let at_a = (buffer * DEPTH + step) * A_GROUPS + (ty ^ ((step & 1u) * 4u));
  let at_b = (buffer * DEPTH + step) * B_GROUPS + tx;
  for (var i = 0u; i < A_BLOCKS; i++) {
    operands.a[i] = tile_a[at_a + i * TY];
  }
  for (var j = 0u; j < B_BLOCKS; j++) {
    operands.b[j] = tile_b[at_b + j * TX];
  }
  return operands;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tiles_n = (params.n + B_GROUPS * 4u - 1u) / (B_GROUPS * 4u);
  let tiles_m = (params.m + A_GROUPS * 4u - 1u) / (A_GROUPS * 4u);
  let linear = workgroup.y * workgroups.x + workgroup.x;
  if (linear >= tiles_m * tiles_n) {
    return;
  }
  let band = linear / (BAND * tiles_n);
  let band_rows = min(tiles_m - band * BAND, BAND);
  let within = linear - band * BAND * tiles_n;
  let tile_row = band * BAND + within % band_rows;
  let tile_column = within / band_rows;

  // 32 consecutive threads cover 8 × 4 blocks, in an order in which neighbours share addresses when they read the tiles.
  let warp = thread / 32u;
  let lane = thread % 32u;
  let tx = (warp % (TX / 8u)) * 8u + (lane & 1u) + ((lane >> 1u) & 6u);
  let ty = (warp / (TX / 8u)) * 4u + ((lane >> 1u) & 1u) + ((lane >> 3u) & 2u);

  // 32 consecutive threads load sixteen rows of A at eight k.
  let a_group = (thread & 3u) + warp * 4u;
  var source: Source;
  source.a_k = (thread >> 2u) & 7u;
  source.b_k = thread / B_GROUPS;
  source.b_column = tile_column * B_GROUPS + thread % B_GROUPS;
  source.a_slot = source.a_k * A_GROUPS + (a_group ^ ((source.a_k & 1u) * 4u));
  source.b_slot = thread;
  for (var i = 0u; i < A_LOADS; i++) {
    source.a_rows[i] = row_offsets((tile_row * A_GROUPS + a_group + i * (THREADS / DEPTH)) * 4u);
  }

  let begin = workgroup.z * params.k_chunk;
  let end = min(begin + params.k_chunk, params.k);
  let last = end - 1u;
  var c: Block;
  var next = zero_past(load_tiles(source, begin, last), source, begin, last);
  for (var i = 0u; i < A_LOADS; i++) {
    tile_a[source.a_slot + i * (THREADS / DEPTH)] = next.a[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {
    tile_b[source.b_slot + i * THREADS] = next.b[i];
  }
  next = load_tiles(source, begin + DEPTH, last);
  workgroupBarrier();

  var buffer = 0u;
  var operands = load_operands(ty, tx, 0u, 0u);
  var k = begin;
  for (; k + 2u * DEPTH <= end; k += DEPTH) {
    for (var step = 1u; step < DEPTH; step++) {
      let following = load_operands(ty, tx, buffer, step);
      accumulate(&c, operands);
      operands = following;
    }
    buffer = 1u - buffer;
    for (var i = 0u; i < A_LOADS; i++) {
      tile_a[buffer * (A_GROUPS * DEPTH) + source.a_slot + i * (THREADS / DEPTH)] = next.a[i];
    }
    for (var i = 0u; i < B_LOADS; i++) {
      tile_b[buffer * (B_GROUPS * DEPTH) + source.b_slot + i * THREADS] = next.b[i];
    }
    next = load_tiles(source, k + 2u * DEPTH, last);
    workgroupBarrier();
    let following = load_operands(ty, tx, buffer, 0u);
    accumulate(&c, operands);
    operands = following;
  }
  // The same, for the last one or two turns.
  for (; k < end; k += DEPTH) {
    for (var step = 1u; step < DEPTH; step++) {
      let following = load_operands(ty, tx, buffer, step);
      accumulate(&c, operands);
      operands = following;
    }
    buffer = 1u - buffer;
    next = zero_past(next, source, k + DEPTH, last);
    for (var i = 0u; i < A_LOADS; i++) {
      tile_a[buffer * (A_GROUPS * DEPTH) + source.a_slot + i * (THREADS / DEPTH)] = next.a[i];
    }
    for (var i = 0u; i < B_LOADS; i++) {
      tile_b[buffer * (B_GROUPS * DEPTH) + source.b_slot + i * THREADS] = next.b[i];
    }
    workgroupBarrier();
    let following = load_operands(ty, tx, buffer, 0u);
    accumulate(&c, operands);
    operands = following;
  }

  let part = workgroup.z * params.m;
  let column = tile_column * B_GROUPS + tx;
  for (var i = 0u; i < A_BLOCKS; i++) {
    for (var q = 0u; q < 4u; q++) {
      let row = (tile_row * A_GROUPS + ty + i * TY) * 4u + q;
      if (row < params.m) {
        for (var j = 0u; j < B_BLOCKS; j++) {
          store_c4(part + row, column + j * TX, c[(i * 4u + q) * B_BLOCKS + j]);
        }
      }
    }
  }
}
