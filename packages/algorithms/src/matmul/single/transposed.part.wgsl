// Register-blocked product for GPUs that copy from memory to workgroup memory without passing registers: A lies transposed, k × m, so that
// what an invocation brings in of both matrices is four neighbours. Tiles of A and B are double-buffered, each buffer a variable of its own,
// so that a compiler sees that no copy of a turn touches what the turn reads: such a copy, a load that goes straight into a tile which the
// invocation leaves alone up to the next barrier, may run beside the whole turn. The operands of a step come from workgroup memory while the
// step before it runs, across the barrier too. Each element of C sums its products in ascending k, in one accumulator: the bits are those of
// tiled.part.wgsl. Rows and columns past the edge load the last valid ones.
//
// The host puts in front the constants TX, TY, A_BLOCKS, B_BLOCKS, each a power of two: TX and TY at least 8, A_BLOCKS · TY and B_BLOCKS · TX
// (groups of four rows and columns of the tile) a quarter of TX · TY.

const HALF = DEPTH / 2u; // rows of k that the invocations bring in at once

@group(0) @binding(1) var<storage, read> a: array<vec4<Element>>;

var<workgroup> tile_a0: array<vec4<Element>, A_GROUPS * DEPTH>;
var<workgroup> tile_b0: array<vec4<Element>, B_GROUPS * DEPTH>;
var<workgroup> tile_a1: array<vec4<Element>, A_GROUPS * DEPTH>;
var<workgroup> tile_b1: array<vec4<Element>, B_GROUPS * DEPTH>;

fn load_operands_0(ty: u32, tx: u32, step: u32) -> Operands {
  var operands: Operands;
  for (var i = 0u; i < A_BLOCKS; i++) {
    operands.a[i] = tile_a0[step * A_GROUPS + ty + i * TY];
  }
  for (var j = 0u; j < B_BLOCKS; j++) {
    operands.b[j] = tile_b0[step * B_GROUPS + tx + j * TX];
  }
  return operands;
}

fn load_operands_1(ty: u32, tx: u32, step: u32) -> Operands {
  var operands: Operands;
  for (var i = 0u; i < A_BLOCKS; i++) {
    operands.a[i] = tile_a1[step * A_GROUPS + ty + i * TY];
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
  let tile = workgroup.y * workgroups.x + workgroup.x;
  if (tile >= tiles_down() * tiles_across()) {
    return;
  }
  let place = tile_place(tile);
  let tile_row = place.x;
  let tile_column = place.y;
  let ty = block_row(thread);
  let tx = block_column(thread);

  // What this invocation brings in of the tiles at k: of A, the groups at a_at + k · a_stride and HALF rows further; of B alike.
  let begin = workgroup.z * params.k_chunk;
  let end = min(begin + params.k_chunk, params.k);
  let a_stride = params.a_stride;
  let b_stride = params.b_stride;
  let a_first = params.a_base + min(tile_row * A_GROUPS + thread % A_GROUPS, (params.m - 1u) / 4u);
  let b_first = params.b_base + min(tile_column * B_GROUPS + thread % B_GROUPS, (params.n - 1u) / 4u);
  let a_at = a_first + (thread / A_GROUPS) * a_stride;
  let b_at = b_first + (thread / B_GROUPS) * b_stride;
  // Past the last k, that one.
  let a_last = a_first + (end - 1u) * a_stride;
  let b_last = b_first + (end - 1u) * b_stride;

  var c: Block;
  tile_a0[thread] = a[min(a_at + begin * a_stride, a_last)];
  tile_a0[thread + THREADS] = a[min(a_at + (begin + HALF) * a_stride, a_last)];
  tile_b0[thread] = b[min(b_at + begin * b_stride, b_last)];
  tile_b0[thread + THREADS] = b[min(b_at + (begin + HALF) * b_stride, b_last)];
  workgroupBarrier();

  // Two whole turns at a time; after them tile 0 holds what begins at k, and `operands` its first step.
  var operands = load_operands_0(ty, tx, 0u);
  var k = begin;
  for (; k + 2u * DEPTH <= end; k += 2u * DEPTH) {
    var following = load_operands_0(ty, tx, 1u);
    tile_a1[thread] = a[a_at + (k + DEPTH) * a_stride];
    tile_a1[thread + THREADS] = a[a_at + (k + DEPTH + HALF) * a_stride];
    tile_b1[thread] = b[b_at + (k + DEPTH) * b_stride];
    tile_b1[thread + THREADS] = b[b_at + (k + DEPTH + HALF) * b_stride];
    accumulate(&c, operands);
    operands = following;
    for (var step = 2u; step < DEPTH; step++) {
      following = load_operands_0(ty, tx, step);
      accumulate(&c, operands);
      operands = following;
    }
    workgroupBarrier();
    following = load_operands_1(ty, tx, 0u);
    accumulate(&c, operands);
    operands = following;

    following = load_operands_1(ty, tx, 1u);
    tile_a0[thread] = a[min(a_at + (k + 2u * DEPTH) * a_stride, a_last)];
    tile_a0[thread + THREADS] = a[min(a_at + (k + 2u * DEPTH + HALF) * a_stride, a_last)];
    tile_b0[thread] = b[min(b_at + (k + 2u * DEPTH) * b_stride, b_last)];
    tile_b0[thread + THREADS] = b[min(b_at + (k + 2u * DEPTH + HALF) * b_stride, b_last)];
    accumulate(&c, operands);
    operands = following;
    for (var step = 2u; step < DEPTH; step++) {
      following = load_operands_1(ty, tx, step);
      accumulate(&c, operands);
      operands = following;
    }
    workgroupBarrier();
    following = load_operands_0(ty, tx, 0u);
    accumulate(&c, operands);
    operands = following;
  }

  // What is left, less than two turns, step by step: what lies past the end stays in the tile.
  if (k < end) {
    tile_a1[thread] = a[min(a_at + (k + DEPTH) * a_stride, a_last)];
    tile_a1[thread + THREADS] = a[min(a_at + (k + DEPTH + HALF) * a_stride, a_last)];
    tile_b1[thread] = b[min(b_at + (k + DEPTH) * b_stride, b_last)];
    tile_b1[thread + THREADS] = b[min(b_at + (k + DEPTH + HALF) * b_stride, b_last)];
    for (var step = 0u; step < min(DEPTH, end - k); step++) {
      accumulate(&c, load_operands_0(ty, tx, step % DEPTH));
    }
    workgroupBarrier();
    for (var step = DEPTH; step < end - k; step++) {
      accumulate(&c, load_operands_1(ty, tx, step % DEPTH));
    }
  }

  store_blocks(&c, tile_row * A_GROUPS + ty, tile_column * B_GROUPS + tx, workgroup.z * params.m);
}
