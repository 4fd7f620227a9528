// run: workgroups=1,1,1 constants=count:3.75
// buffer output: u32[4]
alias Image = texture_2d<f32>;
override count: i32;
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(1) @binding(0) var image: Image;
@group(1) @binding(1) var nearest: sampler;
var<immediate> setting: u32;

// What the entry point does not reach may use what compute shaders here cannot, several times over.
fn texel(at: vec2u) -> vec4f { return textureLoad(image, at, 0); }
fn twice(at: vec2u) -> vec4f { return texel(at) + texel(at + 1u); }
fn size(t: Image, by: sampler) -> vec2u { return textureDimensions(t); }
fn sizes() -> vec2u { return size(image, nearest) + size(image, nearest); }
fn chosen() -> u32 { return setting; }
fn choices() -> u32 { return chosen() + chosen(); }

@compute @workgroup_size(1)
fn main() {
  output[0] = u32(count);
}
