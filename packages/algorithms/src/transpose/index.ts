export {
  chooseTransport,
  type PeerTile,
  type RecordedTile,
  type RecordTransposeOptions,
  recordTranspose,
  type Transport,
  transposeTiles,
} from './record-transpose.ts'
export {
  type TransposeOptions,
  type TransposeReport,
  transpose,
} from './transpose.ts'
export {
  compileTranspose,
  type ScatterKernel,
  type TransposeKernel,
  type TransposeType,
  type TransposeVariant,
  transposeSources,
} from './transpose-kernels.ts'
export {
  choiceOptions,
  compileChoice,
  type TransposeChoice,
  transposeCandidates,
  tuneTranspose,
} from './tune-transpose.ts'
