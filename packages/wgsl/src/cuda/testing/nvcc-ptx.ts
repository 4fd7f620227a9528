import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The PTX that nvcc makes of CUDA C++, for sm_90. */
export function nvccPtx(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-ptx-'))
  try {
    writeFileSync(join(folder, 'kernel.cu'), text)
    execFileSync('nvcc', ['-std=c++17', '-arch=sm_90', '-w', '-ptx', 'kernel.cu'], {
      cwd: folder,
      stdio: 'pipe',
    })
    return readFileSync(join(folder, 'kernel.ptx'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
