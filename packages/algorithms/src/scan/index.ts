export { type RecordScanOptions, recordScan } from './record-scan.ts'
export { type ScanOptions, type ScanReport, scan } from './scan.ts'
export {
  type CompileScanOptions,
  compileScan,
  type ScanKernels,
  type ScanOperation,
  type ScanType,
  type ScanVariant,
  scanSources,
  scanTileLength,
} from './scan-kernels.ts'
