// run: workgroups=1,1,1
// buffer out: u32[4]
diagnostic(off, derivative_uniformity);
requires readonly_and_readwrite_storage_textures, packed_4x8_integer_dot_product, unrestricted_pointer_parameters;
requires pointer_composite_access;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
;
@diagnostic(warning, subgroup_uniformity)
@compute @workgroup_size(4,)
fn main(@builtin(local_invocation_index,) i: u32,) {
  @diagnostic(off, derivative_uniformity) if i < 2u @diagnostic(off, derivative_uniformity) {
    out[i] = 1u;;
  } else {
    out[i] = 2u;
  }
  ;
}
