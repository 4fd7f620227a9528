// error: is of type vec3u, not vec3i
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) a: vec3i) { }
