// node ptxi.ts FOLDER [clamp|trap|indirect|unchecked] [filter]: NVRTC's PTX on the interpreter against the reference executor; guards
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { nativeAddon } from '/work/main/packages/backend-cuda/src/native-addon.ts'
import { mayBeMiscompiled, mayBeWrong } from '../backend-cuda/src/machine-code.ts'
import { emitCuda } from './src/cuda/emit-cuda.ts'
import { kernelCase, referenceRun } from './src/cuda/testing/kernel-cases.ts'
import { ptxResults } from './src/cuda/testing/nvcc-ptx.ts'
import { parsePtx } from './src/cuda/testing/ptx.ts'
import { compareBuffers } from './src/testing/index.ts'
const [dir, form = 'clamp', filter] = process.argv.slice(2)
const files = readdirSync(dir!).filter((f) => f.endsWith('.wgsl') && (!filter || f.includes(filter)))
const addon = nativeAddon() as any
let bad = 0, n = 0, guards = 0, calls = 0, unknown: any = {}
const orders = (process.env.ORDERS ?? 'rising,falling').split(',')
const end = Date.now() + 1000 * Number(process.env.SECONDS ?? 540)
for (const f of files) {
  if (Date.now() > end) { console.log('time'); break }
  let c: any
  try { c = kernelCase(f, readFileSync(dir + '/' + f, 'utf8')) } catch (e) { 0; continue }
  const k = emitCuda(c.module, { bounds: form === 'indirect' ? 'clamp' : form as any, stoppable: true, indirect: form === 'indirect', lineDirectives: false })
  const t = Date.now()
  const compile = (more: string[]) => addon.nvrtcCompile(['/tmp/nvrtc/nvidia/cu13/lib/libnvrtc.so.13'], { source: k.source, name: 'translated.cu', options: ['--gpu-architecture=' + (process.env.ARCH ?? 'sm_90'), '--std=c++17', '-default-device', '--fmad=true', '-minimal', '--no-cache', ...more] }, 0)
  let o = await compile([])
  if (o.compiled && mayBeWrong(o.ptx)) { calls++; o = await compile(['--Ofast-compile=min']) }
  const dt = Date.now() - t
  if (!o.compiled) { console.log('COMPILE', f, o.log.slice(0, 300)); continue }
  if (dt > 6000) console.log('SLOW', f, dt)
  if (k.ptxasLevel === 0) ; else if (mayBeMiscompiled(o, process.env.ARCH ?? 'sm_90')) { guards++; if (process.env.GUARDS) console.log('GUARD', f) }
  if (process.env.KEEP) { writeFileSync(process.env.KEEP + '/' + f.replace('.wgsl', '.ptx'), o.ptx); writeFileSync(process.env.KEEP + '/' + f.replace('.wgsl', '.cubin'), o.cubin) }
  if (process.env.NORUN) { n++; continue }
  const expected = referenceRun(c)
  try {
    const module = parsePtx(new TextDecoder().decode(typeof o.ptx === 'string' ? new TextEncoder().encode(o.ptx) : o.ptx))
    for (const order of orders) {
      const found = ptxResults(c, k, module, k.entryName, order as any)
      const d = c.inputs.flatMap(({ binding, buffer }: any, j: number) => binding.access === 'read' || !buffer ? [] : compareBuffers(buffer, found[j]!, expected[j]!, c.test.tolerance) ?? [])
      if (d.length) { bad++; console.log('DIFF', order, f, d.join('; ')) }
    }
    n++
  } catch (e) { const m = (e as Error).message.slice(0, 90); if (!unknown[m]) console.log('ERR', f, m); unknown[m] = (unknown[m] ?? 0) + 1 }
}
console.log(form, n, 'run; bad', bad, 'guards', guards, 'calls', calls, unknown)
process.exit(0)
