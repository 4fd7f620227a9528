// Register-blocked product for GPUs: a workgroup of TX × TY invocations makes a tile of 4·A_BLOCKS·TY rows by 4·B_BLOCKS·TX columns, an
// invocation A_BLOCKS × B_BLOCKS blocks of 4 × 4 of it. Tiles of A and B, 8 deep in k, are double-buffered in workgroup memory, each buffer a
// variable of its own, so that addresses in it are constants. What comes next is always on its way: tiles from memory to registers while a
// whole turn of eight steps runs, and the operands of a step from workgroup memory while the step before it runs, across the barrier too.
// Each element of C sums its products in ascending k, in one accumulator: the bits do not depend on the tile's shape. Rows and columns
// past the edge load the last valid one and are not stored, and only the last turns look at the end of k.
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
var<workgroup> tile_a0: array<vec4<Element>, A_GROUPS * DEPTH>;
var<workgroup> tile_b0: array<vec4<Element>, B_GROUPS * DEPTH>;
var<workgroup> tile_a1: array<vec4<Element>, A_GROUPS * DEPTH>;
var<workgroup> tile_b1: array<vec4<Element>, B_GROUPS * DEPTH>;

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

fn store_tiles_0(source: Source, loaded: Loaded) {
  for (var i = 0u; i < A_LOADS; i++) {
    tile_a0[source.a_slot + i * (THREADS / DEPTH)] = loaded.a[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {
    tile_b0[source.b_slot + i * THREADS] = loaded.b[i];
  }
}

fn store_tiles_1(source: Source, loaded: Loaded) {
  for (var i = 0u; i < A_LOADS; i++) {
    tile_a1[source.a_slot + i * (THREADS / DEPTH)] = loaded.a[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {
    tile_b1[source.b_slot + i * THREADS] = loaded.b[i];
  }
}

// The remainder by TY changes nothing: compilers see from it that the sum does not overflow, and put what is constant in it into the loads.
fn load_operands_0(ty: u32, tx: u32, step: u32) -> Operands {
  var operands: Operands;
  for (var i = 0u; i < A_BLOCKS; i++) {
    operands.a[i] = tile_a0[step * A_GROUPS + ((ty ^ ((step & 1u) * 4u)) % TY) + i * TY];
  }
  for (var j = 0u; j < B_BLOCKS; j++) {
    operands.b[j] = tile_b0[step * B_GROUPS + tx + j * TX];
  }
  return operands;
}

fn load_operands_1(ty: u32, tx: u32, step: u32) -> Operands {
  var operands: Operands;
  for (var i = 0u; i < A_BLOCKS; i++) {
    operands.a[i] = tile_a1[step * A_GROUPS + ((ty ^ ((step & 1u) * 4u)) % TY) + i * TY];
  }
  for (var j = 0u; j < B_BLOCKS; j++) {
    operands.b[j] = tile_b1[step * B_GROUPS + tx + j * TX];
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
  var next = load_tiles(source, begin, last);
  store_tiles_0(source, next);
  workgroupBarrier();

  // Two whole turns at a time; after them tile 0 holds what begins at k, and `operands` its first step.
  var operands = load_operands_0(ty, tx, 0u);
  var k = begin;
  for (; k + 2u * DEPTH <= end; k += 2u * DEPTH) {
    next = load_tiles(source, k + DEPTH, last);
    for (var step = 1u; step < DEPTH; step++) {
      let following = load_operands_0(ty, tx, step);
      accumulate(&c, operands);
      operands = following;
    }
    store_tiles_1(source, next);
    workgroupBarrier();
    var following = load_operands_1(ty, tx, 0u);
    accumulate(&c, operands);
    operands = following;

    next = load_tiles(source, k + 2u * DEPTH, last);
    for (var step = 1u; step < DEPTH; step++) {
      let following = load_operands_1(ty, tx, step);
      accumulate(&c, operands);
      operands = following;
    }
    store_tiles_0(source, next);
    workgroupBarrier();
    following = load_operands_0(ty, tx, 0u);
    accumulate(&c, operands);
    operands = following;
  }

  // What is left, less than two turns, step by step: what lies past the end stays in the tile.
  if (k < end) {
    next = load_tiles(source, k + DEPTH, last);
    for (var step = 0u; step < min(DEPTH, end - k); step++) {
      accumulate(&c, load_operands_0(ty, tx, step % DEPTH));
    }
    store_tiles_1(source, next);
    workgroupBarrier();
    for (var step = DEPTH; step < end - k; step++) {
      accumulate(&c, load_operands_1(ty, tx, step % DEPTH));
    }
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
