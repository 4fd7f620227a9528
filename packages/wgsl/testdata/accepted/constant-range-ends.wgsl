// Constant expressions whose intermediate values leave the range that their results are in.
// run: workgroups=1,1,1
// buffer output: u32[12]
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

const largest = 1.7976931348623157e308;
const least = -9223372036854775807 - 1;

@compute @workgroup_size(1)
fn main() {
  output[0] = select(0u, 1u, radians(largest) > 3.13e306 && radians(largest) < 3.14e306);
  output[1] = select(0u, 1u, degrees(3e306) > 1.71e308 && degrees(3e306) < 1.72e308);
  output[2] = u32(log2(ldexp(0.5, 1024)));
  output[3] = u32(ldexp(3.0, -1074) == 3 * 4.9406564584124654e-324);
  output[4] = u32(ldexp(1e308, -2400) == 0.0);
  output[5] = u32(ldexp(ldexp(1.75, 1000), -1000) * 4.0);
  // The least abstract integer has no positive counterpart.
  output[6] = u32(-least == least);
  output[7] = u32(abs(least) == least);
  output[8] = bitcast<u32>(i32(-least >> 32));
  output[9] = u32(0 << 64u);
  output[10] = u32(ldexp(1.5, -1076) == 0.0);
  output[11] = u32(ldexp(largest, -2098) == 4.9406564584124654e-324);
}
