import { splitRows } from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { jaxOn } from './jax-on.ts'
import { multiply } from './multiply.ts'

// NVIDIA GPUs; where there is none, plain JavaScript.
const group = await openGroup({ backends: [cuda(), referenceBackend()], devices: 2, virtual: true })
const [m, k, n] = [60, 40, 20]
const rows = splitRows(m, 2)
const inner = splitRows(k, 2)
const shards = []
for (const device of group.devices) {
  const { jax } = await jaxOn(device)
  const { numpy: np } = jax
  const i = device.ordinal
  shards.push({ jax, left: np.ones([rows[i]!.rows, k]), right: np.full([inner[i]!.rows, n], i + 1) })
}

const products = await multiply(group, shards)
console.log(`computed by ${group.devices[0]!.info.name} through ${group.backend}`)
for (const [i, product] of products.entries()) {
  // jax-js goes on with its tensor: here, it takes the mean.
  const mean = shards[i]!.jax.numpy.mean(product.ref)
  console.log(`device ${i}: rows ${product.shape.join(' × ')}, whose mean is ${(await mean.data())[0]}`)
}
await group.destroy()
