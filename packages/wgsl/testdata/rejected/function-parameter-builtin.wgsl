// error: entry points only
fn f(@builtin(global_invocation_id) a: vec3u) { } @compute @workgroup_size(1) fn main() { }
