@group(0) @binding(2) var<storage, read> b: array<Element>;
@group(0) @binding(3) var<storage, read_write> c: array<Element>;

// Four elements of a row of B from column 4·column4 on; columns past the last repeat it.
fn load_b4(k: u32, column4: u32) -> vec4<Element> {
  let row = params.b_base + k * params.b_stride;
  let last = params.n - 1u;
  let column = column4 * 4u;
  return vec4<Element>(
    b[row + min(column, last)],
    b[row + min(column + 1u, last)],
    b[row + min(column + 2u, last)],
    b[row + min(column + 3u, last)],
  );
}

fn store_c4(row: u32, column4: u32, value: vec4<Element>) {
  let first = params.c_base + row * params.c_stride;
  let column = column4 * 4u;
  if (column < params.n) {
    c[first + column] = value.x;
  }
  if (column + 1u < params.n) {
    c[first + column + 1u] = value.y;
  }
  if (column + 2u < params.n) {
    c[first + column + 2u] = value.z;
  }
  if (column + 3u < params.n) {
    c[first + column + 3u] = value.w;
  }
}
