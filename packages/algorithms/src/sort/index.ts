export { type RecordSortOptions, recordSort } from './record-sort.ts'
export { type SortOptions, type SortReport, sort } from './sort.ts'
export {
  type CompileSortOptions,
  compileSort,
  type SortedValues,
  type SortForm,
  type SortKernels,
  type SortType,
  type SortVariant,
  sortSources,
} from './sort-kernels.ts'
