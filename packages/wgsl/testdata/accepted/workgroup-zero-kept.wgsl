// run: workgroups=2,1,1
// buffer input: u32[4] values(2, 1, 0, 3)
// buffer output: u32[128]
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> turns: array<u32, 8>;
var<workgroup> called: array<u32, 8>;
var<workgroup> tested: array<u32, 8>;
var<workgroup> asked: array<u32, 8>;
var<workgroup> begun: array<u32, 8>;
var<workgroup> chosen: array<u32, 8>;

fn store_called(i: u32) -> u32 { called[i] = 5u; return 1u; }
fn store_tested(i: u32) -> u32 { tested[i] = 6u; return i; }

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) group: vec3u) {
  let at = group.x * 64u + lid;

  // An element keeps what an earlier turn stored.
  for (var k = 0u; k < 2u; k++) {
    if (lid < input[k] * 3u) { turns[lid] = lid + k + 10u; }
    workgroupBarrier();
    output[at + k * 8u] = turns[7u - lid];
    workgroupBarrier();
  }

  // A function stores too, called by an assigned value or a condition.
  var x = 0u;
  x = store_called(lid);
  if (lid < input[0]) { called[lid] = 7u; }
  if (store_tested(lid) < input[3]) { tested[lid] = 8u; }
  workgroupBarrier();
  output[at + 16u] = called[7u - lid] + x;
  output[at + 24u] = tested[7u - lid];

  // The condition of the loop reads before the body stores.
  while (workgroupUniformLoad(&asked[3]) == 0u) {
    asked[lid] = lid + 1u;
    workgroupBarrier();
    output[at + 32u] = asked[7u - lid];
  }
  for (var i = workgroupUniformLoad(&begun[2]); i < 1u; i++) {
    begun[lid] = lid + 2u;
    workgroupBarrier();
    output[at + 40u] = begun[7u - lid];
  }
  if (workgroupUniformLoad(&chosen[1]) == 0u) {
    chosen[lid] = lid + 3u;
    workgroupBarrier();
    output[at + 48u] = chosen[7u - lid];
  }
}
