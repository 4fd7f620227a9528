import { bundledPrograms } from '../../tools/testing/bundled-programs.ts'

export default bundledPrograms(['src/bin.ts', 'src/testing/tuning-writer.ts'])
