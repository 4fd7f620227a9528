import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { tandem } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

describe('wrong usage', () => {
  it.each([
    ['an unknown command', 'transmogrify', /unknown command 'transmogrify'/],
    ['help for an unknown command', 'help transmogrify', /unknown command 'transmogrify'/],
    ['--help of an unknown command', 'transmogrify --help', /unknown command 'transmogrify'/],
    [
      'a file without its option',
      'transpose a.npy',
      /transpose does not take the argument a\.npy; name a file by an option, such as --input a\.npy/,
    ],
    ['an argument of a command without any', 'devices all', /devices does not take the argument all\./],
    ['an unknown option', 'reduce --colour red', /unknown option '--colour'/],
    [
      'a size that is no number',
      'reduce --elements many',
      /'--elements <n>' argument 'many' is invalid.*whole number/,
    ],
    ['a negative size', 'transpose --rows=-1', /whole number of at least 0/],
    ['more devices than a command opens', 'transpose --devices 1000000000', /It must be at most 1024/],
    ['no device', 'transpose --devices 0', /whole number from 1 to 1024/],
    [
      'device counts with a letter',
      'bench --devices 1,x',
      /one or more whole numbers from 1 to 1024, such as 1,2,4/,
    ],
    ['a kernel that does not exist', 'reduce --kernel fastest', /Allowed choices are atomic/],
    ['a memory limit without digits', 'matmul --memory-limit lots', /150000, 64M or 1\.5GiB/],
    ['a type of result that f32 has not', 'matmul --result-type f32', /--result-type is for products of f16/],
    [
      'a precision of f16',
      'matmul --type f16 --precision split',
      /--precision is for products of f32, but the type is f16/,
    ],
    [
      'panels of f16',
      'matmul --type f16 --stream-width 8',
      /--stream-width cannot be used with matrices of f16, which stay/,
    ],
    [
      'a memory limit of f16',
      'matmul --type f16 --memory-limit 1M',
      /--memory-limit cannot be used with matrices of f16, which stay/,
    ],
    [
      'streams of f16',
      'matmul --type f16 --mode streamed',
      /--mode streamed cannot be used with matrices of f16/,
    ],
    ['more than a number holds', 'transpose --rows 1e30', /It must be at most 9007199254740991/],
    ['a wait that no timer holds', 'monitor --interval 1e12', /It must be at most 2147483647/],
    ['an id that no device has', 'bench --device none', /No device has the id none; the ids are \S/],
    ['a shape besides a file', 'transpose --input a.npy --rows 4', /--rows and --cols cannot be used/],
    [
      'a file that is not there',
      'reduce --input nowhere.npy',
      /nowhere\.npy cannot be read: no such file or folder/,
    ],
    ['an output in no folder', 'transpose --output nowhere/b.npy', /nowhere\/b\.npy cannot be written/],
    [
      'a folder that cannot be created',
      'demo --folder /proc/tandem/demo',
      /\/proc\/tandem\/demo cannot be created/,
    ],
    ['a picture that is no PNG', 'jacobi --image out.jpg', /written as PNG, but out\.jpg ends in \.jpg/],
    ['a picture that is no SVG', 'histogram --image out.png', /written as SVG, but out\.png ends in \.png/],
    [
      'a plan that is neither',
      'transpose --plan a.npy',
      /written as SVG or text, but a\.npy .* in \.svg or \.txt/,
    ],
    ['a trace that is no .json', 'transpose --trace a.npy', /written as JSON, but a\.npy ends in \.npy/],
    ['a report that is no .html', 'bench --report a.txt', /written as HTML, but a\.txt ends in \.txt/],
    ['an array that is no .npy', 'transpose --output out.txt', /written as NPY, but out\.txt ends in \.txt/],
    ['an unknown algorithm', 'bench --works transpose,merge', /merge is not one of transpose/],
  ])('%s exits with 2, and the sentence names it', async (_, line, sentence) => {
    const text = await tandem(line)
    expect(text.exit).toBe(2)
    expect(text.stderr).toMatch(sentence)
    expect(text.stdout).toBe('')

    const json = await tandem(`${line} --json`)
    expect(json.exit).toBe(2)
    expect(JSON.parse(json.stdout)).toEqual({
      $schema: expect.stringMatching(/schemas\/1\.json#\/\$defs\/error$/),
      schema: 1,
      error: { code: expect.stringMatching(/^bad-/), message: expect.stringMatching(sentence) },
    })
  })

  it('leaves no output behind', async () => {
    const folder = await temporaryFolder()
    expect((await tandem(`transpose --input ${folder}/no.npy --output ${folder}/b.npy`)).exit).toBe(2)
    expect((await tandem(`transpose --trace ${folder}/t.json --input ${folder}/no.npy`)).exit).toBe(2)
    expect(await readdir(folder)).toEqual([])
  })
})

describe('help', () => {
  it.each(['--help', 'help reduce', 'jacobi --help', '--version'])('tandem %s exits with 0', async (line) => {
    const { exit, stdout, stderr } = await tandem(line)
    expect([exit, stderr]).toEqual([0, ''])
    expect(stdout.length).toBeGreaterThan(4)
  })

  it('lists every command', async () => {
    const { stdout } = await tandem('--help')
    for (const name of [
      ...['demo', 'devices', 'select', 'transpose', 'reduce', 'matmul', 'jacobi', 'ring', 'bench', 'doctor'],
      ...['fft', 'topology', 'bandwidth', 'monitor', 'completion'],
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
  })
})
