// Register-blocked product for GPUs. Tiles of A and B are double-buffered in workgroup memory. What comes next is always on its way: tiles
// from memory to registers while a whole turn of eight steps runs, and the operands of a step from workgroup memory while the step before
// it runs, across the barrier too. Each element of C sums its products in ascending k, in one accumulator: the bits do not depend on the
// tile's shape. Rows and columns past the edge load the last valid one, and only the last two turns look at the end of k.
//
// The host puts in front the constants TX, TY, A_BLOCKS, B_BLOCKS, each a power of two: TX and TY at least 8, TX · TY at least 64.

const A_LOADS = A_GROUPS * DEPTH / THREADS; // groups that one invocation brings in
const B_LOADS = B_GROUPS * DEPTH / THREADS;

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
  let tile = workgroup.y * workgroups.x + workgroup.x;
  if (tile >= tiles_down() * tiles_across()) {
    return;
  }
  let place = tile_place(tile);
  let tile_row = place.x;
  let tile_column = place.y;
  let ty = block_row(thread);
  let tx = block_column(thread);

  // 32 consecutive threads load sixteen rows of A at eight k.
  let a_group = (thread & 3u) + (thread / 32u) * 4u;
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

  store_blocks(&c, tile_row * A_GROUPS + ty, tile_column * B_GROUPS + tx, workgroup.z * params.m);
}
