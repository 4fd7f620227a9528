// error: is not a built-in value of compute shaders
@compute @workgroup_size(1) fn main(@builtin(position) a: vec4f) { }
