import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'

// In a browser, cuda() finds no GPU, so the same list works in pages and in Node.
const group = await openGroup({ backends: [cuda(), webgpu()] })
const kernel = await group.compile({
  wgsl: `
    struct Params { x_length: u32 }
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    @group(0) @binding(1) var<uniform> params: Params;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < params.x_length) { x[id.x] = sqrt(x[id.x]); }
    }`,
})
const x = await group.devices[0]!.allocate('f32', 1000)
await group.queue.write(
  x,
  Float32Array.from({ length: 1000 }, (_, i) => i),
)
await group.queue.run(group.record((r) => r.dispatch(kernel, { workgroups: 16, args: { x } })))
const roots = await group.queue.read(x)
await group.destroy()
document.body.append(`The root of 144 is ${roots[144]}, says ${group.devices[0]!.info.name}.`)
