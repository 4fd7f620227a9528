// Register-blocked product for GPUs: a workgroup of TX × TY threads makes a tile of 8·TY rows by 8·TX columns, a thread 8 × 8 of it as
// 2 × 2 blocks of 4 × 4. Tiles of A and B, 8 deep in k, are double-buffered in workgroup memory (16 KiB for 16 × 16 threads); the
// next pair is on its way from memory to registers while the current one is used. Each element of C sums its products in
// ascending k, in one accumulator: the bits do not depend on the tile's shape. Rows and columns past the edge load the last valid
// one and are not stored, so the inner loop has no bounds logic.
//
// TX, TY and THREADS = TX · TY are constants that the host puts in front; TX and TY are 8 or 16.

const A_GROUPS = TY * 2u; // groups of four rows in the tile of A
const B_GROUPS = TX * 2u; // groups of four columns in the tile of B
const TWO_A = TX == 8u; // each thread loads one or two groups of A
const TWO_B = TY == 8u;
const BAND = 8u; // tile rows that run one after another share columns of B in the cache

var<workgroup> tile_a: array<vec4<Element>, A_GROUPS * 16u>;
var<workgroup> tile_b: array<vec4<Element>, B_GROUPS * 16u>;

// Four elements of one column of A, from rows that start at the offsets; zeros from `end` on.
fn gather_a(offsets: vec4<u32>, k: u32, end: u32) -> vec4<Element> {
  let at = offsets + vec4<u32>(min(k, end - 1u));
  return select(vec4<Element>(), vec4<Element>(a[at.x], a[at.y], a[at.z], a[at.w]), k < end);
}

fn gather_b(k: u32, column4: u32, end: u32) -> vec4<Element> {
  return select(vec4<Element>(), load_b4(min(k, end - 1u), column4), k < end);
}

fn row_offsets(first: u32) -> vec4<u32> {
  let rows = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(params.m - 1u));
  return vec4<u32>(params.a_base) + rows * params.a_stride;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tiles_n = (params.n + TX * 8u - 1u) / (TX * 8u);
  let tiles_m = (params.m + TY * 8u - 1u) / (TY * 8u);
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

  // What this thread brings in: four rows of A at one k, four columns of B at one k.
  let a_k = thread % 8u;
  let a_group = thread / 8u;
  let b_k = thread / B_GROUPS;
  let b_group = thread % B_GROUPS;
  let a_rows_0 = row_offsets(tile_row * TY * 8u + a_group * 4u);
  let a_rows_1 = row_offsets(tile_row * TY * 8u + (a_group + TY) * 4u);
  let b_column = tile_column * TX * 2u + b_group;

  // The xor spreads the eight k of a group over the banks; readers undo it.
  let a_slot_0 = a_k * A_GROUPS + (a_group ^ a_k);
  let a_slot_1 = a_k * A_GROUPS + ((a_group + TY) ^ a_k);
  let b_slot_0 = b_k * B_GROUPS + b_group;
  let b_slot_1 = (b_k + 4u) * B_GROUPS + b_group;

  let begin = workgroup.z * params.k_chunk;
  let end = min(begin + params.k_chunk, params.k);
  var c00 = vec4<Element>();
  var c01 = vec4<Element>();
  var c10 = vec4<Element>();
  var c11 = vec4<Element>();
  var c20 = vec4<Element>();
  var c21 = vec4<Element>();
  var c30 = vec4<Element>();
  var c31 = vec4<Element>();
  var c40 = vec4<Element>();
  var c41 = vec4<Element>();
  var c50 = vec4<Element>();
  var c51 = vec4<Element>();
  var c60 = vec4<Element>();
  var c61 = vec4<Element>();
  var c70 = vec4<Element>();
  var c71 = vec4<Element>();

  tile_a[a_slot_0] = gather_a(a_rows_0, begin + a_k, end);
  tile_b[b_slot_0] = gather_b(begin + b_k, b_column, end);
  if (TWO_A) {
    tile_a[a_slot_1] = gather_a(a_rows_1, begin + a_k, end);
  }
  if (TWO_B) {
    tile_b[b_slot_1] = gather_b(begin + b_k + 4u, b_column, end);
  }
  workgroupBarrier();

  // Two tiles a turn, so that their places in workgroup memory are constants once the inner loops are unrolled.
  for (var turn = begin; turn < end; turn += 16u) {
    for (var half = 0u; half < 2u; half++) {
      let k = turn + half * 8u;
      if (k >= end) {
        break;
      }
      // Without branches, so that the loads are under way while the steps run. At the end the last k is loaded again, as zeros.
      let next = k + 8u;
      let at = a_rows_0 + vec4<u32>(min(next + a_k, end - 1u));
      var next_a_0 = vec4<Element>(a[at.x], a[at.y], a[at.z], a[at.w]);
      var next_b_0 = load_b4(min(next + b_k, end - 1u), b_column);
      if (next + a_k >= end) {
        next_a_0 = vec4<Element>();
      }
      if (next + b_k >= end) {
        next_b_0 = vec4<Element>();
      }
      var next_a_1 = vec4<Element>();
      var next_b_1 = vec4<Element>();
      if (TWO_A) {
        next_a_1 = gather_a(a_rows_1, next + a_k, end);
      }
      if (TWO_B) {
        next_b_1 = gather_b(next + b_k + 4u, b_column, end);
      }

      for (var step = 0u; step < 8u; step++) {
        let row_a = half * (A_GROUPS * 8u) + step * A_GROUPS;
        let row_b = half * (B_GROUPS * 8u) + step * B_GROUPS;
        let a0 = tile_a[row_a + (ty ^ step)];
        let a1 = tile_a[row_a + ((ty + TY) ^ step)];
        let b0 = tile_b[row_b + tx];
        let b1 = tile_b[row_b + tx + TX];
        c00 = multiply_add(a0.x, b0, c00);
        c01 = multiply_add(a0.x, b1, c01);
        c10 = multiply_add(a0.y, b0, c10);
        c11 = multiply_add(a0.y, b1, c11);
        c20 = multiply_add(a0.z, b0, c20);
        c21 = multiply_add(a0.z, b1, c21);
        c30 = multiply_add(a0.w, b0, c30);
        c31 = multiply_add(a0.w, b1, c31);
        c40 = multiply_add(a1.x, b0, c40);
        c41 = multiply_add(a1.x, b1, c41);
        c50 = multiply_add(a1.y, b0, c50);
        c51 = multiply_add(a1.y, b1, c51);
        c60 = multiply_add(a1.z, b0, c60);
        c61 = multiply_add(a1.z, b1, c61);
        c70 = multiply_add(a1.w, b0, c70);
        c71 = multiply_add(a1.w, b1, c71);
      }

      if (next < end) {
        let to_a = (1u - half) * (A_GROUPS * 8u);
        let to_b = (1u - half) * (B_GROUPS * 8u);
        tile_a[to_a + a_slot_0] = next_a_0;
        tile_b[to_b + b_slot_0] = next_b_0;
        if (TWO_A) {
          tile_a[to_a + a_slot_1] = next_a_1;
        }
        if (TWO_B) {
          tile_b[to_b + b_slot_1] = next_b_1;
        }
      }
      workgroupBarrier();
    }
  }

  let part = workgroup.z * params.m;
  let row = tile_row * TY * 8u + ty * 4u;
  let column = tile_column * TX * 2u + tx;
  if (row < params.m) {
    store_c4(part + row, column, c00);
    store_c4(part + row, column + TX, c01);
  }
  if (row + 1u < params.m) {
    store_c4(part + row + 1u, column, c10);
    store_c4(part + row + 1u, column + TX, c11);
  }
  if (row + 2u < params.m) {
    store_c4(part + row + 2u, column, c20);
    store_c4(part + row + 2u, column + TX, c21);
  }
  if (row + 3u < params.m) {
    store_c4(part + row + 3u, column, c30);
    store_c4(part + row + 3u, column + TX, c31);
  }
  if (row + TY * 4u < params.m) {
    store_c4(part + row + TY * 4u, column, c40);
    store_c4(part + row + TY * 4u, column + TX, c41);
  }
  if (row + TY * 4u + 1u < params.m) {
    store_c4(part + row + TY * 4u + 1u, column, c50);
    store_c4(part + row + TY * 4u + 1u, column + TX, c51);
  }
  if (row + TY * 4u + 2u < params.m) {
    store_c4(part + row + TY * 4u + 2u, column, c60);
    store_c4(part + row + TY * 4u + 2u, column + TX, c61);
  }
  if (row + TY * 4u + 3u < params.m) {
    store_c4(part + row + TY * 4u + 3u, column, c70);
    store_c4(part + row + TY * 4u + 3u, column + TX, c71);
  }
}
