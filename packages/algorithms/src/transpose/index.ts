export {
  chooseTransport,
  compileTranspose,
  type PeerTile,
  type RecordedTile,
  type RecordTransposeOptions,
  recordTranspose,
  type Transport,
  type TransposeKernel,
  type TransposeType,
  type TransposeVariant,
  transposeSources,
  transposeTiles,
} from './record-transpose.ts'
export {
  type TransposeOptions,
  type TransposeReport,
  transpose,
} from './transpose.ts'
