import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { elementArray } from '@tandem-gpu/core'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { defineCache } from './commands/cache.ts'
import { loadCommands } from './commands/index.ts'
import { formatNpyHeader } from './npy/header.ts'
import { NpyReader } from './npy/reader.ts'
import { completionExamples, programExamples } from './program.ts'
import { recordedTerminal } from './terminal.ts'
import { tandem, tandemJson } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const scale = `
struct Params { x_base: u32, x_length: u32, factor: f32, shift: vec2f }
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64) fn scale(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.x_length) { x[params.x_base + id.x] = params.factor * x[params.x_base + id.x] + params.shift.y; }
}
`

async function folderWithKernel(): Promise<string> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'scale.wgsl'), scale)
  const data = new Float32Array([1, 2, 3, 4, 5, 6])
  await writeFile(
    join(folder, 'in.npy'),
    Buffer.concat([formatNpyHeader('<f4', [2, 3]), Buffer.from(data.buffer)]),
  )
  return folder
}

describe('tandem run', () => {
  it('runs a kernel on a file, as often as asked, and writes the result', async () => {
    const folder = await folderWithKernel()
    const line = `run ${folder}/scale.wgsl --buffer x=${folder}/in.npy --set factor=2 --set shift=[0,1] --times 2 --output x=${folder}/out.npy`
    const report = await tandemJson(line)
    expect(report).toMatchObject({ workgroups: [1], buffers: { x: { type: 'f32', shape: [2, 3] } } })
    expect(report.buffers.x.first).toEqual([7, 11, 15, 19, 23, 27])
    const reader = await NpyReader.open(join(folder, 'out.npy'), { accepted: ['f32'] })
    const read = new Float32Array(6)
    await reader.readRowMajor(0, read)
    await reader.close()
    expect([...read]).toEqual([7, 11, 15, 19, 23, 27])
  })

  it('makes zeros of a type and a shape', async () => {
    const folder = await folderWithKernel()
    const { exit, stdout } = await tandem(
      `run ${folder}/scale.wgsl --backend webgpu --buffer x=f32:1e3 --set factor=1 --set shift=[0,2.5]`,
    )
    expect([exit, stdout]).toEqual([0, expect.stringContaining('x  f32 1000  2.5 2.5')])
    expect(stdout).toContain('16 workgroups')
  })

  it('reads bytes from files, four per word, and writes them; 13 of them end within a word', async () => {
    const folder = await temporaryFolder()
    await writeFile(
      join(folder, 'invert.wgsl'),
      `@group(0) @binding(0) var<storage, read> a: array<u32>;
      @group(0) @binding(1) var<storage, read_write> b: array<u32>;
      @compute @workgroup_size(2) fn invert(@builtin(global_invocation_id) id: vec3u) { b[id.x] = ~a[id.x]; }`,
    )
    const bytes = Uint8Array.from({ length: 13 }, (_, i) => 20 * i)
    for (const [type, descr] of [
      ['u8', '|u1'],
      ['i8', '|i1'],
    ] as const) {
      await writeFile(join(folder, 'in.npy'), Buffer.concat([formatNpyHeader(descr, [13]), bytes]))
      const line = `run ${folder}/invert.wgsl --buffer a=${folder}/in.npy --buffer b=${type}:13 --output b=${folder}/out.npy`
      const report = await tandemJson(line)
      expect(report).toMatchObject({ workgroups: [2], buffers: { a: { type }, b: { type, shape: [13] } } })
      const reader = await NpyReader.open(join(folder, 'out.npy'), { accepted: [type] })
      const read = elementArray(type, 13)
      await reader.readFileOrder(0, read)
      await reader.close()
      expect(new Uint8Array(read.buffer)).toEqual(bytes.map((value) => 255 - value))
    }
  })

  it.each([
    [
      'zeros of another type than the binding',
      'run KERNEL --buffer x=i32:4 --set factor=1 --set shift=[0,0]',
      /scale\.wgsl binds x as array<f32>, but its --buffer is i32; give it f32\./,
    ],
    ['a kernel that is not there', 'run no.wgsl', /no\.wgsl cannot be read/],
    ['a buffer without a source', 'run KERNEL --buffer x', /It must be name=value/],
    ['zeros without a shape', 'run KERNEL --buffer x=f32:many', /f32:1000 or u32:20x30/],
    [
      'zeros of a type that no buffer has',
      'run KERNEL --buffer x=f64:4',
      /types f32, i32, u32, u8, i8 and c64, not f64/,
    ],
    [
      'more elements than a dimension of workgroups has invocations',
      'run KERNEL --buffer x=f32:5e6 --set factor=1 --set shift=[0,0]',
      /5000000 elements, but the device allows at most 65535 in one dimension; set --workgroups with several/,
    ],
    ['a buffer under a wrong name', 'run KERNEL --buffer z=f32:4', /--buffer z names no buffer of/],
    ['a buffer without a source', 'run KERNEL --buffer x=', /'x=' is invalid. It must be name=value/],
    [
      'a buffer with two sources',
      'run KERNEL --buffer x=f32:4 --buffer x=f32:5',
      /The name x is given twice/,
    ],
    [
      'a uniform member with two values',
      'run KERNEL --buffer x=f32:4 --set factor=1 --set factor=2',
      /The name factor is given twice/,
    ],
    ['a binding without a buffer', 'run KERNEL', /scale\.wgsl binds x, but there is no --buffer for it/],
    [
      'a buffer without a binding',
      'run KERNEL --buffer x=f32:4 --buffer z=f32:4',
      /--buffer z names no buffer of \S+scale\.wgsl; its buffers are x\./,
    ],
    [
      'a conversion without an input file',
      'run KERNEL --buffer x=f32:4 --cast',
      /--cast converts input files, but there are none/,
    ],
    [
      'a number beyond f32',
      'run KERNEL --buffer x=f32:4 --set factor=1e39 --set shift=1',
      /factor.* is 1e\+39; f32 holds finite numbers from -3\.4028234663852886e\+38 to 3\.4028234663852886e\+38\./,
    ],
    [
      'an output of no buffer',
      'run KERNEL --output y=y.npy',
      /--output y writes a buffer that is not given: add --buffer y=…\./,
    ],
    [
      'a value of no uniform member',
      'run KERNEL --buffer x=f32:4 --set tpyo=1',
      /--set tpyo names no uniform member of \S+scale\.wgsl; its uniform members are x_base, x_length, factor, shift\./,
    ],
    [
      'a uniform member without a value',
      'run KERNEL --buffer x=f32:4',
      /scale\.wgsl has the uniform member factor \(f32\), but there is no --set for it; set its value as JSON, such as --set factor=1\./,
    ],
    [
      'a vector without a value',
      'run KERNEL --buffer x=f32:4 --set factor=2',
      /has the uniform member shift \(vec2f\), .* such as --set 'shift=\[1,1\]'\./,
    ],
    ['a value that is no JSON', 'run KERNEL --buffer x=f32:4 --set factor=two', /must be JSON/],
  ])('%s exits with 2', async (_, line, sentence) => {
    const folder = await folderWithKernel()
    const { exit, stderr } = await tandem(line.replace('KERNEL', `${folder}/scale.wgsl --backend webgpu`))
    expect(exit).toBe(2)
    expect(stderr).toMatch(sentence)
    expect((await readdir(folder)).sort()).toEqual(['in.npy', 'scale.wgsl'])
  })
})

describe('tandem run of a file with two entry points', () => {
  const words = `
    @group(0) @binding(0) var<storage, read_write> x: array<vec4u>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(1) fn first(@builtin(global_invocation_id) id: vec3u) { x[id.x] = vec4u(1); y[id.x] = 1; }
    @compute @workgroup_size(1) fn second(@builtin(global_invocation_id) id: vec3u) { x[id.x] = vec4u(2); }`

  it.each([
    [
      'names them where none is chosen',
      'run FOLDER/words.wgsl --buffer x=u32:4',
      /words\.wgsl has the compute entry points first, second; choose one, as in --entry-point first\./,
    ],
    [
      'names them where another is chosen',
      'translate FOLDER/words.wgsl --entry-point third',
      /has the compute entry points first, second and none named third; choose one,/,
    ],
    [
      'refuses a file whose type is not that of the binding',
      'run FOLDER/words.wgsl --entry-point second --buffer x=FOLDER/in.npy',
      /words\.wgsl binds x as array<vec4u>, but \S+in\.npy is f32; give it u32\./,
    ],
    [
      'refuses two outputs that are one file',
      'run FOLDER/words.wgsl --entry-point first --buffer x=u32:4 --buffer y=u32:4 --output x=FOLDER/o.npy --output y=FOLDER/./o.npy',
      /Two outputs have the name \S+o\.npy; each needs its own file\./,
    ],
  ])('%s', async (_, line, sentence) => {
    const folder = await folderWithKernel()
    await writeFile(join(folder, 'words.wgsl'), words)
    const { exit, stderr } = await tandem(line.replaceAll('FOLDER', folder))
    expect(exit).toBe(2)
    expect(stderr).toMatch(sentence)
    expect((await readdir(folder)).sort()).toEqual(['in.npy', 'scale.wgsl', 'words.wgsl'])
  })
})

describe('tandem translate', () => {
  it('shows the warnings of the source', async () => {
    const folder = await temporaryFolder()
    const kernel = join(folder, 'k.wgsl')
    await writeFile(kernel, 'diagnostic(off, riddle); @compute @workgroup_size(1) fn main() {}')
    expect(await tandem(`translate ${kernel}`)).toMatchObject({
      exit: 0,
      stderr: `warning: ${kernel}:1:17: the diagnostic rule 'riddle' is unknown\n`,
    })
  })

  it('accepts a file that starts with a byte-order mark', async () => {
    const folder = await folderWithKernel()
    const kernel = join(folder, 'scale.wgsl')
    const { stdout } = await tandem(`translate ${kernel}`)
    await writeFile(kernel, `\uFEFF${await readFile(kernel, 'utf8')}`)
    expect(await tandem(`translate ${kernel}`)).toMatchObject({ exit: 0, stdout })
  })

  it("prints CUDA C++, and with --json the kernel's bindings", async () => {
    const folder = await folderWithKernel()
    const { exit, stdout } = await tandem(`translate ${folder}/scale.wgsl`)
    expect([exit, stdout]).toEqual([0, expect.stringContaining('__global__')])
    const json = JSON.parse((await tandem(`translate ${folder}/scale.wgsl --json`)).stdout)
    expect(json.source).toBe(stdout)
    expect(json.reflection.bindings[0]).toMatchObject({ name: 'x', access: 'read_write' })
  })

  it('sets overrides, and shows the place of an error in WGSL', async () => {
    const folder = await temporaryFolder()
    const kernel = join(folder, 'k.wgsl')
    await writeFile(kernel, 'override n: u32; @compute @workgroup_size(n) fn main() {}')
    expect((await tandem(`translate ${kernel}`)).exit).toBe(2)
    const { stdout } = await tandem(`translate ${kernel} --constant n=16 --json`)
    expect(JSON.parse(stdout).reflection.workgroupSize).toEqual([16, 1, 1])
    await writeFile(kernel, 'fn main( {}')
    const { exit, stderr } = await tandem(`translate ${kernel}`)
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/k\.wgsl:1:\d+:/)])
  })
})

describe('tandem cache', () => {
  it('shows and clears the caches', async () => {
    const folder = await temporaryFolder()
    const run = async (...argv: string[]) => {
      const terminal = recordedTerminal()
      const program = new Command()
      defineCache(program.command('cache'), { terminal }, folder)
      await program.parseAsync(['cache', '--json', ...argv], { from: 'user' })
      return JSON.parse(terminal.stdout).folders.map(({ files, byteLength }: never) => [files, byteLength])
    }
    expect(await run()).toEqual([
      [0, 0],
      [0, 0],
    ])
    await mkdir(join(folder, 'kernels'))
    await writeFile(join(folder, 'kernels/k.cubin'), 'abc')
    expect(await run()).toEqual([
      [1, 3],
      [0, 0],
    ])
    expect(await run('--clear', 'tuning')).toEqual([
      [1, 3],
      [0, 0],
    ])
    expect(await run('--clear', 'all')).toEqual([
      [0, 0],
      [0, 0],
    ])
  })
})

const commands = await loadCommands()

describe('options of every command', () => {
  it.each([
    ...commands,
    { name: '', examples: programExamples },
    { name: 'completion', examples: completionExamples },
  ])('the help of $name has examples, of options that it has, and a link', async ({ name, examples }) => {
    const { stdout } = await tandem(`${name} --help`.trim())
    expect(stdout).not.toMatch(/default: [{[]/)
    expect(stdout).toContain('https://github.com/tandem-gpu/tandem/blob/main/docs/cli.md')
    for (const example of examples) {
      expect(stdout).toContain(example)
      expect(example).toContain(`tandem ${name}`)
      if (name === '') continue
      for (const [option] of example.matchAll(/--[a-z-]+/g))
        expect(stdout).toMatch(new RegExp(`${option}\\b`))
    }
  })

  it('--device accepts an id that select prints, and refuses others', async () => {
    const { chosen } = JSON.parse((await tandem('select --backend webgpu --json')).stdout)
    const { exit } = await tandem(`reduce --elements 1e3 --device ${chosen[0].id} --backend webgpu -q`)
    expect(exit).toBe(0)
    const wrong = await tandem('reduce --elements 1e3 --device nowhere --backend webgpu')
    expect([wrong.exit > 0, wrong.stderr]).toEqual([true, expect.stringMatching(/nowhere|excludes/)])
  })

  it('sizes may be written as 1e3, 2K and 1Ki', async () => {
    for (const [text, elements] of [
      ['1e3', 1000],
      ['2K', 2000],
      ['1Ki', 1024],
      ['1.5K', 1500],
    ] as const)
      expect((await tandemJson(`reduce --elements ${text}`)).shape).toEqual({ elements })
    expect((await tandem('reduce --elements 1.5')).exit).toBe(2)
    expect((await tandem('reduce --elements 1KB')).exit).toBe(2)
  })

  it('--quiet prints nothing, and --verbose says which devices are used', async () => {
    expect(await tandem('reduce --elements 10 --backend webgpu --quiet')).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    })
    expect((await tandem('reduce --elements 10 --quiet --json')).exit).toBe(2)
    const { stderr } = await tandem('reduce --elements 10 --backend webgpu -v')
    expect(stderr).toContain('webgpu has 1')
  })

  it('every algorithm compares schedules', async () => {
    for (const line of [
      'transpose --rows 6 --cols 5',
      'reduce --elements 9',
      'matmul --n 4',
      'jacobi --rows 6 --cols 6 --iterations 4',
    ])
      expect(
        (await tandemJson(`${line} --devices 2 --compare-schedules`)).comparison.speedUp,
      ).toBeGreaterThan(0)
  })

  it.each([
    ['jacobi --seed 2', /unknown option '--seed'/],
    ['jacobi --start-iteration 4', /--start-iteration counts the sweeps of an --input grid/],
    ['reduce --rank-transport ipc', /was not started by an MPI launcher: start the command with mpirun\./],
    ['reduce --cast', /--cast converts input files/],
    ['reduce --input a.npy --seed 3', /--seed is for generated input/],
    ['ring --pieces 4 --scheme none', /--pieces is only for --scheme streamed/],
    ['ring --compare --plan p.txt', /--plan is for a single run and cannot be used with --compare/],
    ['ring --compare --scheme direct', /--scheme is for a single run/],
    ['ring --compare --schedule serial', /--schedule is for a single run/],
    [
      'jacobi --scaling --transport copy',
      /--transport is for a single run and cannot be used with --scaling/,
    ],
    ['jacobi --scaling --compare-schedules', /--compare-schedules is for a single run/],
  ])('tandem %s is refused: an option would have no effect', async (line, sentence) => {
    const { exit, stderr } = await tandem(line)
    expect(exit).toBe(2)
    expect(stderr).toMatch(sentence)
  })
})
