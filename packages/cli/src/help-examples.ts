/** Examples in the help of each command, which the tests parse; and where more is said. */
export const helpExamples: Readonly<Record<string, readonly string[]>> = {
  demo: ['tandem demo', 'tandem demo --devices 4 --virtual --folder /tmp/demo'],
  devices: ['tandem devices', 'tandem devices --backend cuda --json'],
  select: ['tandem select --count 2 --by memory', 'tandem select --explain'],
  run: [
    'tandem run scale.wgsl --buffer x=in.npy --set factor=2 --output x=out.npy',
    'tandem run fill.wgsl --buffer y=f32:1e6 --workgroups 15625 --json',
  ],
  translate: ['tandem translate scale.wgsl', 'tandem translate tiled.wgsl --constant TILE=16 --json'],
  transpose: [
    'tandem transpose --input a.npy --output at.npy',
    'tandem transpose --rows 1e4 --cols 2e4 --devices 4 --compare-schedules',
    'tandem transpose --rows 768 --cols 1024 --devices 4 --plan plan.svg',
  ],
  reduce: ['tandem reduce --input a.npy --operation max', 'tandem reduce --elements 64Mi --type f32'],
  scan: [
    'tandem scan --input a.npy --output sums.npy',
    'tandem scan --elements 64Mi --type f32 --operation max --exclusive',
  ],
  histogram: [
    'tandem histogram --input a.npy --bins 256 --range -1,1 --image counts.svg',
    'tandem histogram --input a.npy --edges edges.npy --output counts.npy',
  ],
  sort: [
    'tandem sort --input a.npy --output sorted.npy --indices order.npy',
    'tandem sort --input keys.npy --values values.npy --values-output moved.npy --descending',
  ],
  fft: [
    'tandem fft --input a.npy --output spectrum.npy --devices 4',
    'tandem fft --shape 512x512x512 --order transposed',
    'tandem fft --input signals.npy --axes 1 --real --norm ortho --output spectra.npy',
  ],
  matmul: ['tandem matmul --a a.npy --b b.npy --output c.npy', 'tandem matmul --n 8192 --memory-limit 2GiB'],
  jacobi: [
    'tandem jacobi --rows 257 --cols 129 --iterations 1e4 --image solution.png',
    'tandem jacobi --input grid.npy --tolerance 1e-6 --output solution.npy',
  ],
  ring: ['tandem ring --n 4096 --scheme interleaved', 'tandem ring --n 128 --compare'],
  bench: ['tandem bench --works transpose,reduce', 'tandem bench --report report.html'],
  doctor: ['tandem doctor', 'tandem doctor --json'],
  topology: ['tandem topology'],
  bandwidth: ['tandem bandwidth', 'tandem bandwidth --json'],
  monitor: ['tandem monitor'],
  cache: ['tandem cache', 'tandem cache --clear tuning'],
}

/** The same for `tandem` itself, under '', and for the command that a library makes. */
export const otherExamples: Readonly<Record<string, readonly string[]>> = {
  '': ['tandem doctor', 'tandem transpose --rows 768 --cols 1024 --devices 4', 'tandem run --help'],
  completion: [
    'source <(tandem completion bash)',
    'tandem completion fish > ~/.config/fish/completions/tandem.fish',
  ],
}

/** What stands below the options of a command. */
export function helpEpilogue(command: string): string {
  const examples = (helpExamples[command] ?? otherExamples[command]!).map((line) => `  ${line}`)
  return `\nExamples:\n${examples.join('\n')}\n\nMore: https://github.com/tandem-gpu/tandem/blob/main/docs/cli.md`
}
