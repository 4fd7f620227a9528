"""C = A B of f32 by three TF32 products (CUTLASS's 3xTF32), as Triton writes them (`input_precision="tf32x3"`)."""

import triton
import triton.language as tl


@triton.jit
def _kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr):
    tile = tl.program_id(0)
    across, down = tl.cdiv(N, BN), tl.cdiv(M, BM)
    band = tile // (BAND * across)
    height = min(down - band * BAND, BAND)
    row = band * BAND + (tile % (BAND * across)) % height
    column = (tile % (BAND * across)) // height
    rows, columns, depth = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    left = a + rows[:, None] * K + depth[None, :]
    right = b + depth[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total, input_precision="tf32x3")
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total)


# Rows, columns and depth of a tile, warps, stages.
TILES = ((128, 128, 32, 8, 3), (128, 128, 32, 4, 3), (128, 256, 32, 8, 3), (64, 128, 32, 4, 4))


def multiply(a, b, c, tile):
    """Sizes are multiples of the tile, and offsets fit 31 bits."""
    bm, bn, bk, warps, stages = tile
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _kernel[grid](a, b, c, m, n, k, BM=bm, BN=bn, BK=bk, BAND=8, num_warps=warps, num_stages=stages)
