import { readdirSync } from 'node:fs'
import { bundledPrograms } from '../../tools/testing/bundled-programs.ts'

const ranks = 'src/testing/ranks'
const programs = readdirSync(new URL(ranks, import.meta.url)).map((name) => `${ranks}/${name}`)
export default bundledPrograms(programs, { vitest: 'src/testing/rank-tests.ts' })
