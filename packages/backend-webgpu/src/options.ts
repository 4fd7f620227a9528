// A program has these types from @webgpu/types, from the DOM types of TypeScript 6, or not at all: an
// interface of the same name merges with the real one where that is present.
declare global {
  interface GPU {}
  interface GPUDevice {}
}

/** How `webgpu()` finds and uses devices. */
export interface WebGpuOptions {
  /**
   * The caller's own device: the only adapter then, with the limits and features it was made with. It is
   * never destroyed here.
   */
  readonly device?: GPUDevice | undefined
  /** The caller's own `GPU` object, in place of Dawn or `navigator.gpu`. */
  readonly gpu?: GPU | undefined
  /**
   * Whether an adapter that computes on the CPU will do. `allow`: only where there is no hardware. `prefer`:
   * even where there is hardware. `never`: then a machine without hardware has no adapters. Default `allow`.
   */
  readonly software?: 'prefer' | 'allow' | 'never' | undefined
  /**
   * May virtual devices bind one another's memory? They share it, so true by default; false denies it, to
   * test that path.
   */
  readonly peerAccess?: boolean | undefined
  /**
   * Dawn toggles to enable, in Node only: `disable_workgroup_init`, `dump_shaders`. Some change what WGSL
   * means.
   */
  readonly toggles?: readonly string[] | undefined
}
