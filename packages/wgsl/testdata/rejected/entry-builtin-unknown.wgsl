// error: is not a built-in value
@compute @workgroup_size(1) fn main(@builtin(nonsense) a: vec4f) { }
