/*
 * Prints the names of the kernels in a folder, NAME.ptx with machine code in NAME.cubin, of which the CUDA backend does
 * not notice that ptxas may have miscompiled them.
 *
 *   node tools/gpu-host/unnoticed-errors.ts FOLDER [ARCHITECTURE]
 *
 * It takes a kernel with an instruction that it does not know, such as `brx`, for one that may be miscompiled.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { mayBeMiscompiled } from '../../packages/backend-cuda/src/machine-code.ts'

const [folder, architecture = 'sm_90'] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: unnoticed-errors.ts FOLDER [ARCHITECTURE]')
for (const file of readdirSync(folder)) {
  const { name, ext } = parse(file)
  if (ext !== '.ptx') continue
  const ptx = readFileSync(join(folder, file), 'utf8')
  const cubin = readFileSync(join(folder, `${name}.cubin`))
  if (!mayBeMiscompiled({ ptx, cubin }, architecture)) console.log(name)
}
