// With f16, the length of a buffer may be half a word more than whole words.
// run: workgroups=1,1,1
// buffer memory: u32[2] iota(1006648320, 1)
// buffer output: u32[12]
enable f16;

@group(0) @binding(0) var<storage, read_write> memory: buffer<6>;
@group(0) @binding(1) var<storage, read_write> output: array<u32, 12>;
var<workgroup> first: f16;
var<workgroup> tile: buffer<10>;
var<workgroup> last: f16;

fn third(p: ptr<storage, buffer<6>, read_write>, i: u32) -> f16 { return *bufferView<f16>(p, i); }

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  let halves = bufferView<array<f16>>(&tile, 0);
  output[i] = bitcast<u32>(vec2(halves[i], halves[i + 1])) + bitcast<u32>(vec2(first, last));
  workgroupBarrier();
  halves[i] = f16(i) + 1;
  if i == 0 {
    first = 3;
    last = 5;
    halves[4] = *bufferView<f16>(&memory, 4) + third(&memory, 2);
  }
  workgroupBarrier();
  output[i + 4] = bitcast<u32>(vec2(halves[i + 1], first * last));
  if i == 0 {
    output[8] = bufferLength(&memory) + 100 * bufferLength(&tile);
    output[9] = arrayLength(halves) + 100 * arrayLength(bufferView<array<f16>>(&memory, 2));
    output[10] = arrayLength(bufferView<array<u32>>(&tile, 0));
    *bufferView<f16>(&memory, 4) = halves[3];
    output[11] = bitcast<u32>(vec2(*bufferView<f16>(&memory, output[11] + 4), third(&memory, output[11] + 6)));
  }
}
