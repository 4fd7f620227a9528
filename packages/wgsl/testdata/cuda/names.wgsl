// run: workgroups=1,1,1
// buffer out: i32[4]
// Any name will do, those of C++ and CUDA among them.
struct float4 { int_: i32, x: i32 }
@group(0) @binding(0) var<storage, read_write> out: array<i32, 4>;

fn printf(unsigned: i32) -> i32 {
  return unsigned + 1;
}

fn min_(Größe: i32) -> i32 {
  let min_1 = Größe * 2;
  return min_1;
}

@compute @workgroup_size(1)
fn kernel() {
  let int = 3;
  var threadIdx = float4(int, printf(int));
  {
    let int = 4;
    threadIdx.x += int;
  }
  let long = min_(threadIdx.x);
  out[0] = long;
  out[1] = threadIdx.int_;
  out[2] = int;
}
