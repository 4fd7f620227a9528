export {
  chooseTransport,
  compileTranspose,
  type PeerTile,
  type RecordedTile,
  type RecordTransposeOptions,
  recordTranspose,
  type Transport,
  type TransposeVariant,
  transposeTiles,
} from './record-transpose.ts'
export {
  type TransposeOptions,
  type TransposeReport,
  type TransposeType,
  transpose,
} from './transpose.ts'
