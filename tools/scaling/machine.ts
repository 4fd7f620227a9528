/*
 * The machine of docs/scaling.md: hosts of 8 H200s, with one rank per GPU. Units are seconds, bytes and
 * operations per second. Every figure states where it was measured, or is marked as assumed.
 */

export interface Constant {
  readonly value: number
  /** As docs/scaling.md prints it. */
  readonly text: string
  readonly source: string
  /** Not measured. */
  readonly assumed?: true
}

const table = '`4xh200-table.json`'
const proofs = '`4xh200-proofs.txt`'
const graphsPage = '[graphs](performance/graphs.md)'
const transposePage = '[transpose](performance/transpose.md#what-limits-it)'
const streamedPage = '[streamed products](performance/matmul.md#products-streamed-from-host-memory)'

export const constants = {
  kernelStart: {
    value: 0.9e-6,
    text: 'a kernel begins and ends: 0.9 µs',
    source: `${table}: the sum of 2^22 on one GPU, 5.52 µs, is two kernels and 16.8 MB at the rate of sums`,
  },
  transposeRate: {
    value: 3990e9,
    text: 'transposing: 3,990 GB/s, read and written',
    source: `${table}: 16384² on one GPU`,
  },
  sumRate: { value: 4504e9, text: 'adding up: 4,504 GB/s', source: `${table}: 2^29 f32 on one GPU` },
  copyRate: { value: 2110e9, text: 'a copy on one GPU: 2,110 GB/s', source: proofs },
  productRate: {
    value: 51.6e12,
    text: 'a product whose tiles fill the GPU: 51.6 TFLOP/s, where A is transposed first',
    source: `${table}: 16384³ on one GPU`,
  },
  tiledRate: {
    value: 48.6e12,
    text: 'the same, where A is not: 48.6 TFLOP/s',
    source: `${table}: 256 × 8192 × 8192 on one GPU`,
  },
  processors: { value: 132, text: 'multiprocessors: 132', source: 'NVIDIA’s data sheet' },
  sweepRate: {
    value: 16384 ** 2 / 522.69e-6,
    text: 'one sweep per pass: 5.1 · 10^11 cells per second',
    source: `${table}: Jacobi 16384² on one GPU, one sweep per pass`,
  },
  cachedSweepRate: {
    value: 2048 ** 2 / 5.18e-6,
    text: 'the same for blocks that stay in the cache: 8.1 · 10^11',
    source: `${table}: Jacobi 2048² on one GPU, 6.08 µs, less the start`,
  },
  cacheByteLength: { value: 50e6, text: 'the cache: 50 MB', source: 'NVIDIA’s data sheet' },
  flag: {
    value: 2.5e-6,
    text: 'a GPU waits for another’s flag: 2.5 µs',
    source: graphsPage,
  },
  driverEdge: {
    value: 6e-6,
    text: 'the same in one graph over all GPUs (programs that copy 1 MiB or more between GPUs): 6 µs',
    source: graphsPage,
  },
  copyLatency: { value: 1.68e-6, text: 'a copy of 4 bytes to another GPU: 1.68 µs', source: proofs },
  linkCopyRate: {
    value: 387e9,
    text: 'copies over NVLink, into and out of a GPU at once: 387 GB/s each way',
    source: transposePage,
  },
  linkWriteRate: { value: 355e9, text: 'kernels that write over NVLink: 355 GB/s', source: transposePage },
  uploadRate: {
    value: 43.5e9,
    text: 'upload, all GPUs of a host at once: 43.5 GB/s per GPU',
    source: `${streamedPage}: 174 GB/s into four`,
  },
  downloadRate: {
    value: 36.75e9,
    text: 'download: 36.75 GB/s per GPU',
    source: `${streamedPage}: 147 GB/s out of four`,
  },
  stagedRate: {
    value: 6.8e9,
    text: 'a rank’s `staged` messages: 6.8 GB/s, in and out together',
    source: '`2xh200-mpi.txt`: 64 MiB from host to host one way; rings, both ways, share it',
  },
  stagedLatency: {
    value: 40e-6,
    text: 'a `staged` message of any small size: 40 µs',
    source: '`2xh200-ipc-and-soak.txt`: Jacobi 2048² over two ranks, 3,090.5 µs for 200 sweeps',
  },
  stagedShare: {
    value: 0.5,
    text: 'such a message keeps the message thread on each side busy for half of that, in addition to its bytes',
    source: 'both sides have the same amount of work',
    assumed: true,
  },
  messageLatency: {
    value: 7.3e-6,
    text: 'a message between GPUs of a host: 7.3 µs',
    source: 'NCCL 2.28 itself, two neighbours in a replayed graph, 8 KiB each, 4 × H200',
  },
  messageRate: {
    value: 315e9,
    text: 'such messages: 315 GB/s each way',
    source:
      '`4xh200-transpose-parts.txt`: NCCL itself, twice 128 MiB from each of four GPUs to each other, together with passes of few workgroups, without the passes before and after (342 GB/s alone)',
  },
  messageGap: {
    value: 1.68e-6,
    text: 'a rank’s next message follows after 1.68 µs',
    source:
      'the latency of a small copy; three at once show no gap (`4xh200-nccl-bound.txt`), more were not measured',
    assumed: true,
  },
  networkLatency: {
    value: 12.3e-6,
    text: 'a message between hosts: 12.3 µs',
    source: 'a message inside a host plus 5 µs for two adapters and a switch',
    assumed: true,
  },
  networkRate: {
    value: 45e9,
    text: 'a link of 400 Gb/s: 45 GB/s each way',
    source: '0.9 of its 50 GB/s',
    assumed: true,
  },
} satisfies Record<string, Constant>

const ranksPerHost = 8

/** How messages are sent between ranks. */
export interface Transport {
  readonly name: 'staged' | 'links'
  /** The latency of one message between these ranks until its bytes are in place, however few. */
  latency(from: number, to: number): number
  /** The maximum bytes per second of one message. */
  rate(from: number, to: number): number
  /** The resource that a message occupies on one of its two ranks, and for how long. */
  occupies(from: number, to: number, byteLength: number): readonly [resource: string, seconds: number]
}

const sameHost = (a: number, b: number) => Math.floor(a / ranksPerHost) === Math.floor(b / ranksPerHost)

const c = constants

/**
 * Through host memory by MPI, as in a group over several hosts. One thread of each rank carries all its
 * messages.
 */
export const staged: Transport = {
  name: 'staged',
  latency: () => c.stagedLatency.value,
  rate: () => c.stagedRate.value,
  occupies: (_from, _to, byteLength) => [
    'carrier',
    byteLength / c.stagedRate.value + c.stagedLatency.value * c.stagedShare.value,
  ],
}

/**
 * From GPU to GPU, as `nccl` sends them: over NVLink inside a host, over the GPU's own link between hosts.
 */
export const links: Transport = {
  name: 'links',
  latency: (from, to) => (sameHost(from, to) ? c.messageLatency : c.networkLatency).value,
  rate: (from, to) => (sameHost(from, to) ? c.messageRate : c.networkRate).value,
  occupies: (from, to, byteLength) => {
    const inside = sameHost(from, to)
    const rate = (inside ? c.messageRate : c.networkRate).value
    return [inside ? 'NVLink' : 'network', byteLength / rate + c.messageGap.value]
  },
}
