/**
 * Kernels that the runtime itself needs, as PTX that every supported driver takes (PTX 6.0, sm_60), so that they need no NVRTC.
 * Parameters are eight bytes each.
 */
export const internalKernels = {
  /** (slot): the GPU's nanosecond clock. */
  stamp: 'tandem_stamp',
  /** (role, own flag, peer's flag, stamps, rounds): a ping-pong between two GPUs, each of which writes its clock at every turn. */
  pingPong: 'tandem_ping_pong',
} as const

export const internalPtx = `.version 6.0
.target sm_60
.address_size 64

.visible .entry ${internalKernels.stamp}(.param .u64 slot)
{
  .reg .u64 %a, %t;
  ld.param.u64 %a, [slot];
  cvta.to.global.u64 %a, %a;
  mov.u64 %t, %globaltimer;
  st.global.u64 [%a], %t;
  ret;
}

.visible .entry ${internalKernels.pingPong}(.param .u64 role, .param .u64 own, .param .u64 peer, .param .u64 stamps, .param .u64 rounds)
{
  .reg .u64 %role, %own, %peer, %stamps, %rounds, %round, %seen, %t, %begin, %waited;
  .reg .pred %p, %late;
  ld.param.u64 %role, [role];
  ld.param.u64 %own, [own];
  ld.param.u64 %peer, [peer];
  ld.param.u64 %stamps, [stamps];
  ld.param.u64 %rounds, [rounds];
  cvta.to.global.u64 %own, %own;
  cvta.to.global.u64 %peer, %peer;
  cvta.to.global.u64 %stamps, %stamps;
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
done:
  ret;
}
`
