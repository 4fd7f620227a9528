// error: position is no compute input
@compute @workgroup_size(1) fn main(@builtin(position) a: vec4f) { }
