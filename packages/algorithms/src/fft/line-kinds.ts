import loadComplex from './load-complex.part.wgsl.ts'
import loadHalf from './load-half.part.wgsl.ts'
import loadReal from './load-real.part.wgsl.ts'
import storeComplex from './store-complex.part.wgsl.ts'
import storeHalf from './store-half.part.wgsl.ts'
import storeReal from './store-real.part.wgsl.ts'

/** How kernels read and write the values of lines. */
export const loads = { complex: loadComplex, real: loadReal, half: loadHalf }
export const stores = { complex: storeComplex, real: storeReal, half: storeHalf }
