/**
 * The choices that suit a device if the caller makes none. Only here do algorithms distinguish a GPU from an
 * adapter that runs on the CPU, where barriers are slow, all devices share one memory, and times do not apply
 * to hardware.
 */
export interface DeviceCharacter {
  /** Whether workgroups exchange values through workgroup memory at little cost. */
  readonly fastBarriers: boolean
  /** Whether each adapter has its own memory, connected to the others by links. */
  readonly ownMemory: boolean
  /** Whether measuring choices costs less than it gains. */
  readonly tunes: boolean
  /** The number of untimed runs before the timed ones. */
  readonly warmup: number
  /** How often an iteration returns to the host to report its progress, if its duration is unknown. */
  readonly progressReports: number
  /** The number of columns of B in a panel of a streamed product. */
  readonly streamWidth: number
  readonly jacobi: {
    /** Whether sweeps are fused into passes over memory if possible. */
    readonly fuses: boolean
    /**
     * The maximum number of cells in a block for which a sweep that reads the neighbours' cells is faster
     * than one after copies.
     */
    readonly directCells: number
    /** The number of rows that one invocation sweeps, in a block of `rows` rows. */
    stripRows(rows: number): number
  }
  /**
   * The rates that predictions assume: round figures for comparing device counts; do not base plans on them.
   */
  readonly assumed: AssumedRates
  /** Sizes of the benchmark that measures these rates instead. */
  readonly probe: { readonly side: number; readonly copyLength: number }
}

export interface AssumedRates {
  readonly flopsPerSecond: number
  readonly hostBytesPerSecond: number
  readonly hostTotalBytesPerSecond: number
  readonly peerBytesPerSecond: number
  /** The rate between devices that cannot access each other's memory. */
  readonly relayedBytesPerSecond: number
  readonly commandSeconds: number
}

/**
 * 10 TFLOP/s, host links of 25 GB/s of which four run at full rate, 200 GB/s between peers, 10 µs a command.
 */
const hardware: DeviceCharacter = {
  fastBarriers: true,
  ownMemory: true,
  tunes: true,
  warmup: 1,
  progressReports: 1,
  streamWidth: 2048,
  jacobi: {
    fuses: true,
    directCells: 2_097_152,
    // More rows reuse loaded values; fewer rows keep more invocations busy. On an H200: 3 rows 4.1 TB/s, 4
    // rows 4.06, 8 rows 3.7, 1 row 3.6.
    stripRows: (rows) => (rows < 512 ? 2 : 3),
  },
  assumed: {
    flopsPerSecond: 1e13,
    hostBytesPerSecond: 2.5e10,
    hostTotalBytesPerSecond: 1e11,
    peerBytesPerSecond: 2e11,
    relayedBytesPerSecond: 1.25e10,
    commandSeconds: 1e-5,
  },
  probe: { side: 4096, copyLength: 16_777_216 },
}

/** Measured with SwiftShader on two cores. */
const software: DeviceCharacter = {
  fastBarriers: false,
  ownMemory: false,
  tunes: false,
  warmup: 0,
  progressReports: 200,
  streamWidth: 256,
  jacobi: {
    fuses: false,
    directCells: 65_536,
    stripRows: (rows) => Math.min(64, Math.ceil(rows / 16)),
  },
  assumed: {
    flopsPerSecond: 1.5e9,
    hostBytesPerSecond: 2e9,
    hostTotalBytesPerSecond: 2e9,
    peerBytesPerSecond: 2e9,
    relayedBytesPerSecond: 2e9,
    commandSeconds: 2e-4,
  },
  probe: { side: 192, copyLength: 262_144 },
}

/** The character of a group, or of one device's `info`. */
export function characterOf(of: { readonly software: boolean }): DeviceCharacter {
  return of.software ? software : hardware
}
