// run: workgroups=1,1,1
// buffer input: i32[64] values(-2147483648, 3, -5, 32768, 2147483647, -2147483647, -32768, 7, -1, -2147483648, 0, 98304, 65535, 1)
// buffer divisors: i32[64] values(3, -7, 10, 1000003)
// buffer out: i32[1024]
// The absolute value of the least integer is negative, and so is a 16-bit negation of -32768: ptxas 13.0 takes both for positive.
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read> input: array<i32>;
@group(0) @binding(2) var<storage, read> divisors: array<i32>;

fn put(i: u32, column: u32, value: i32) { out[i * 16u + column] = value; }

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = input[i];
  let y = divisors[i];
  put(i, 0u, bitcast<i32>(f32(u32(abs(x)))));
  put(i, 1u, abs(x) % y);
  put(i, 2u, bitcast<i32>(f32(u32(abs(x - y)))));
  put(i, 3u, i32(f32(u32(abs(x)) >> 1u)));
  // The compiler makes absolute values of conditions too.
  var size = x;
  if (size < 0i) { size = -size; }
  put(i, 4u, bitcast<i32>(f32(u32(size))));
  put(i, 5u, select(-x, x, x > 0i) % y);
  put(i, 6u, bitcast<i32>(f32(u32(max(x, -x)))));
  put(i, 7u, abs(x) / y);
  // 16 bits.
  put(i, 8u, extractBits(-x, 0u, 16u) % 3i);
  put(i, 9u, extractBits(-x, 0u, 16u) / 3i);
  put(i, 10u, ((-x << 16u) >> 16u) / 10i);
  put(i, 11u, extractBits(x * -1i, 0u, 16u) % 3i);
  put(i, 12u, abs(extractBits(x, 0u, 16u)) % 10i);
  put(i, 13u, i32(f32(extractBits(-extractBits(x, 0u, 16u), 0u, 16u))));
  put(i, 14u, select(y, 7i, abs(x) >= 0i));
  put(i, 15u, select(y, 9i, u32(size) <= 0x7fffffffu));
}
