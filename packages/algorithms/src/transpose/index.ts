export {
  type PeerTile,
  type RecordedTile,
  type RecordTransposeOptions,
  recordTranspose,
  type TileTransport,
} from './record-transpose.ts'
export { type TransposeOptions, type TransposeReport, transpose } from './transpose.ts'
export {
  type CompileTransposeOptions,
  compileTranspose,
  type ScatterKernel,
  type TransposeKernel,
  type TransposeType,
  type TransposeVariant,
  transposeSources,
} from './transpose-kernels.ts'
