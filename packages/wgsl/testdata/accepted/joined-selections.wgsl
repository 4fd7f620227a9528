// run: workgroups=1,1,1
// buffer data: u32[128] random(0, 4294967295)
// buffer out: u32[192]
// Flags that a loop carries are integers to nvcc, which it joins and compares with 0. ptxas, which knows that y & ~y is 0,
// combines the result with another predicate, and lost the negations of both.
@group(0) @binding(0) var<storage, read> data: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 192>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  let y = data[i + 64u];
  var a = x;
  var p = i > 32u;
  var q = i > 32u;
  var k = 0u;
  loop {
    let isEither = (q | p) | ((a > 0x80000000u) | p);
    q = true;
    a += select(0u, 7u, isEither);
    a ^= 0x55u;
    if (select(p, q, p)) { break; }
    if (k != 4u && (y & ~y) != 0u) {
      let was = q;
      q = !p;
      a += select(0u, 7u, was);
      p = q;
    }
    continuing {
      k++;
      break if k > 6u || a > 0x80000000u;
    }
  }
  out[i] = a;
  out[i + 64u] = u32(p);
  out[i + 128u] = u32(q);
}
