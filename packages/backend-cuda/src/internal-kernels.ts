/**
 * Kernels that the runtime itself needs, as PTX that every supported driver accepts, so that they need no
 * NVRTC. Parameters are eight bytes each.
 */

/** Kernels that stamp and copy: PTX 6.0 for sm_60 and newer. */
export const internalKernels = {
  /** (slot): writes the GPU's clock in nanoseconds. */
  stamp: 'tandem_stamp',
  /**
   * (role, own flag, peer's flag, stamps, rounds): a ping-pong between two GPUs, each of which writes its
   * clock at every turn.
   */
  pingPong: 'tandem_ping_pong',
  /** (source, source pitch, target, target pitch, units in a row, rows), in units of 16 bytes. */
  copy16: 'tandem_copy16',
  /** The same in units of 4 bytes. */
  copy4: 'tandem_copy4',
  /**
   * (list): one workgroup for each entry of three words: target, source, and the number of bytes to copy, a
   * multiple of 4. The sources and the list are in page-locked memory.
   */
  scatter: 'tandem_scatter',
} as const

/** Kernels that synchronize GPUs: PTX 6.0 for sm_70 and newer, which have scoped memory operations. */
export const syncKernels = {
  /** (epoch): counts a GPU's launches of one set of graphs. */
  begin: 'tandem_begin',
  /**
   * (epoch, stop word, signal count, wait count, lags, signal flag…, wait flag…): writes the epoch into flags
   * on other GPUs after all preceding work; then waits until each wait flag holds the epoch, or the previous
   * epoch if the flag's bit of `lags` is set.
   */
  sync: 'tandem_sync',
} as const

/** The maximum number of signal flags, and of wait flags, in one synchronization node. */
export const flagsPerNode = 8
/**
 * A launch that fails sets the stop word. Waits check it and the clock only once per this many polls, since
 * it is in host memory.
 */
const pollsPerStopCheck = 4096
/** A wait that takes this long sets the stop word itself: the driver does not run the GPUs concurrently. */
const longestWaitSeconds = 30

const threads = 256

/** The grid and block of a copy kernel. */
export function copyShape(
  unitsPerRow: number,
  rows: number,
): { grid: [number, number, number]; block: [number, number, number] } {
  return {
    grid: [Math.min(2 ** 31 - 1, Math.ceil(unitsPerRow / threads)), Math.min(65_535, rows), 1],
    block: [threads, 1, 1],
  }
}

/** Kernels that stamp and copy: PTX 6.0 for sm_60. */
const internalEntries = {
  [internalKernels.stamp]: entry(
    ['&slot'],
    `.reg .u64 %t;
  mov.u64 %t, %globaltimer;
  st.global.u64 [%slot], %t;`,
  ),
  [internalKernels.scatter]: entry(
    ['list'],
    `.reg .u64 %to, %from, %bytes, %i, %step, %at;
  .reg .u32 %index, %thread, %threads, %word;
  .reg .pred %p;
  mov.u32 %index, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %threads, %ntid.x;
  mad.wide.u32 %at, %index, 24, %list;
  ld.u64 %to, [%at];
  ld.u64 %from, [%at+8];
  ld.u64 %bytes, [%at+16];
  mul.wide.u32 %i, %thread, 4;
  mul.wide.u32 %step, %threads, 4;
next:
  setp.ge.u64 %p, %i, %bytes;
  @%p bra done;
  add.u64 %at, %from, %i;
  ld.u32 %word, [%at];
  add.u64 %at, %to, %i;
  st.u32 [%at], %word;
  add.u64 %i, %i, %step;
  bra next;
done:`,
  ),
  [internalKernels.pingPong]: entry(
    ['role', '&own', '&peer', '&stamps', 'rounds'],
    `.reg .u64 %round, %seen, %t, %begin, %waited;
  .reg .pred %p, %late;
  mov.u64 %begin, %globaltimer;
  mov.u64 %round, 0;
next:
  add.u64 %round, %round, 1;
  setp.gt.u64 %p, %round, %rounds;
  @%p bra done;
  setp.ne.u64 %p, %role, 0;
  @%p bra wait;
  mov.u64 %t, %globaltimer;
  st.global.u64 [%stamps], %t;
  add.u64 %stamps, %stamps, 8;
  membar.sys;
  st.volatile.global.u64 [%peer], %round;
wait:
  ld.volatile.global.u64 %seen, [%own];
  setp.ge.u64 %p, %seen, %round;
  @%p bra arrived;
  mov.u64 %t, %globaltimer;
  sub.u64 %waited, %t, %begin;
  setp.gt.u64 %late, %waited, 1000000000;
  @%late bra done;
  bra wait;
arrived:
  mov.u64 %t, %globaltimer;
  st.global.u64 [%stamps], %t;
  add.u64 %stamps, %stamps, 8;
  setp.eq.u64 %p, %role, 0;
  @%p bra next;
  membar.sys;
  st.volatile.global.u64 [%peer], %round;
  bra next;
done:`,
  ),
  [internalKernels.copy16]: copyEntry(16, '.v4.u32', '{%a, %b, %c, %d}'),
  [internalKernels.copy4]: copyEntry(4, '.u32', '%a'),
}

function copyEntry(unitByteLength: number, type: string, registers: string): string {
  return entry(
    ['&source', 'sourcePitch', '&target', 'targetPitch', 'units', 'rows'],
    `.reg .u32 %a, %b, %c, %d, %n, %x, %y;
  .reg .u64 %first, %step, %row, %rowStep, %i, %from, %to, %offset;
  .reg .pred %p;
  mov.u32 %n, %ntid.x;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %tid.x;
  mul.wide.u32 %first, %x, %n;
  cvt.u64.u32 %i, %y;
  add.u64 %first, %first, %i;
  mov.u32 %x, %nctaid.x;
  mul.wide.u32 %step, %x, %n;
  mov.u32 %x, %ctaid.y;
  cvt.u64.u32 %row, %x;
  mov.u32 %x, %nctaid.y;
  cvt.u64.u32 %rowStep, %x;
nextRow:
  setp.ge.u64 %p, %row, %rows;
  @%p bra done;
  mad.lo.u64 %from, %row, %sourcePitch, %source;
  mad.lo.u64 %to, %row, %targetPitch, %target;
  mov.u64 %i, %first;
nextUnit:
  setp.ge.u64 %p, %i, %units;
  @%p bra rowDone;
  mul.lo.u64 %offset, %i, ${unitByteLength};
  add.u64 %offset, %offset, %from;
  ld.global${type} ${registers}, [%offset];
  mul.lo.u64 %offset, %i, ${unitByteLength};
  add.u64 %offset, %offset, %to;
  st.global${type} [%offset], ${registers};
  add.u64 %i, %i, %step;
  bra nextUnit;
rowDone:
  add.u64 %row, %row, %rowStep;
  bra nextRow;
done:`,
  )
}

const flagIndices = Array.from({ length: flagsPerNode }, (_, index) => index)
const flagParameters = ['&signal', '&wait'].flatMap((sort) => flagIndices.map((index) => `${sort}${index}`))

/** Kernels that synchronize GPUs: PTX 6.0 for sm_70, which has scoped memory operations. */
const syncEntries = (waitSeconds: number): Record<string, string> => ({
  [syncKernels.begin]: entry(
    ['&epoch'],
    `.reg .u32 %e;
  ld.global.u32 %e, [%epoch];
  add.u32 %e, %e, 1;
  st.global.u32 [%epoch], %e;`,
  ),
  [syncKernels.sync]: entry(
    ['&epoch', 'stop', 'signalCount', 'waitCount', 'lags', ...flagParameters],
    `.reg .u64 %begun, %now;
  .reg .u32 %e, %target, %seen, %polls, %lag, %bits;
  .reg .s32 %ahead;
  .reg .pred %end;
  ld.global.u32 %e, [%epoch];
  setp.eq.u64 %end, %signalCount, 0;
  @%end bra signalled;
  fence.acq_rel.sys;
${flagIndices
  .map(
    (index) => `  setp.le.u64 %end, %signalCount, ${index};
  @%end bra signalled;
  st.relaxed.sys.global.u32 [%signal${index}], %e;
`,
  )
  .join('')}signalled:
  cvt.u32.u64 %bits, %lags;
  mov.u64 %begun, %globaltimer;
  mov.u32 %polls, 0;
${flagIndices
  .map(
    (index) => `  setp.le.u64 %end, %waitCount, ${index};
  @%end bra done;
  bfe.u32 %lag, %bits, ${index}, 1;
  sub.u32 %target, %e, %lag;
poll${index}:
  ld.acquire.sys.global.u32 %seen, [%wait${index}];
  sub.s32 %ahead, %seen, %target;
  setp.ge.s32 %end, %ahead, 0;
  @%end bra passed${index};
  add.u32 %polls, %polls, 1;
  and.b32 %lag, %polls, ${pollsPerStopCheck - 1};
  setp.ne.u32 %end, %lag, 0;
  @%end bra poll${index};
  ld.relaxed.sys.u32 %seen, [%stop];
  setp.ne.u32 %end, %seen, 0;
  @%end bra done;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begun;
  setp.lt.u64 %end, %now, ${waitSeconds * 1e9};
  @%end bra poll${index};
  mov.u32 %seen, 1;
  st.relaxed.sys.u32 [%stop], %seen;
  bra done;
passed${index}:
`,
  )
  .join('')}done:`,
  ),
})

/**
 * A kernel's parameters and body. Each parameter is in a register of the same name; `&` marks an address in
 * global memory.
 */
function entry(parameters: readonly string[], body: string): string {
  const names = parameters.map((parameter) => parameter.replace('&', ''))
  const loads = parameters.flatMap((parameter, index) => [
    `  ld.param.u64 %${names[index]}, [${names[index]}];`,
    ...(parameter.startsWith('&') ? [`  cvta.to.global.u64 %${names[index]}, %${names[index]};`] : []),
  ])
  return `(${names.map((name) => `.param .u64 ${name}`).join(', ')})
{
  .reg .u64 ${names.map((name) => `%${name}`).join(', ')};
${loads.join('\n')}
  ${body}
  ret;
}
`
}

/**
 * PTX that contains only one of the runtime's kernels, so that the driver compiles nothing else.
 * `waitSeconds`: see `longestWaitSeconds`.
 */
export function kernelPtx(name: string, waitSeconds = longestWaitSeconds): string {
  const internal = (internalEntries as Record<string, string>)[name]
  const text = internal ?? syncEntries(waitSeconds)[name]
  return `.version 6.0
.target ${internal === undefined ? 'sm_70' : 'sm_60'}
.address_size 64

.visible .entry ${name}${text}`
}
