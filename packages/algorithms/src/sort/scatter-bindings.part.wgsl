@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> sorted: array<Key>;
/** What comes before each range, of each digit; then, in `totals`, how many keys have it. */
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read> totals: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;
