export * from './element-source.ts'
export * from './measure.ts'
export * from './report.ts'
export * from './sharded-matrix.ts'
