export { type RecordSortOptions, recordSort } from './record-sort.ts'
export { type SortOptions, type SortReport, sort } from './sort.ts'
export type { SortedValues, SortForm, SortType, SortVariant } from './sort-form.ts'
export { type CompileSortOptions, compileSort, type SortKernels, sortSources } from './sort-kernels.ts'
