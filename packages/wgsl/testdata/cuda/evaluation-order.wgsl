// run: workgroups=1,1,1
// buffer out: i32[12]
// Operands and arguments are evaluated left to right, each load at its moment.
@group(0) @binding(0) var<storage, read_write> out: array<i32, 12>;

var<private> counter: i32;

fn next() -> i32 {
  counter += 1;
  return counter;
}

fn pack(a: i32, b: i32, c: i32) -> i32 {
  return a * 100 + b * 10 + c;
}

@compute @workgroup_size(1)
fn main() {
  out[0] = counter + next() * 10 + counter * 100;
  out[next()] = next();
  out[3] = pack(next(), counter, next());
  var sums = array<i32, 3>(1, 2, 3);
  sums[counter % 3] += next();
  out[4] = sums[0];
  out[5] = sums[1];
  out[6] = sums[2];
  out[7] = select(next(), next(), next() > 0);
  let skipped = counter > 1000 && next() > 0;
  out[8] = select(0, 1, skipped) + counter;
  let v = vec3i(next(), counter, next());
  out[9] = v.x;
  out[10] = v.y;
  out[11] = v.z;
}
