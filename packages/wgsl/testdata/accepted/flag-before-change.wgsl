// run: workgroups=1,1,1
// buffer a: u32[64] values(0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 6, 9)
// buffer o: u32[64]
// A condition that depends on a flag and on what ptxas, but not nvcc, computes from literals: it branched on the
// flag's later value.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  var flag = a[i] == 1u;
  var sum = 0u;
  let five = 5u;
  for (var j = 0u; j != 20u + (a[i] & 7u); j++) {
    let isUnset = flag == (u32(abs(i32(five) - 9i)) != 4u);
    flag = (a[i + j] * 3u > j) != ((five ^ j) < (j * 5u));
    if (isUnset) {
      sum = sum * 3u + j + select(0u, 5u, flag);
      o[i + 32u] = sum;
    }
  }
  o[i] = sum;
}
