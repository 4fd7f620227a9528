// A program gets these types from @webgpu/types or from the DOM types of TypeScript 6, or lacks them. An
// interface of the same name merges with the real one if there is one.
declare global {
  interface GPU {}
  interface GPUDevice {}
}

/** How `webgpu()` finds and uses devices. */
export interface WebGpuOptions {
  /**
   * The caller's own device. If set, it is the only adapter, with the limits and features it was created
   * with. The backend never destroys it.
   */
  readonly device?: GPUDevice | undefined
  /** The caller's own `GPU` object, in place of Dawn or `navigator.gpu`. */
  readonly gpu?: GPU | undefined
  /**
   * Whether to use an adapter that computes on the CPU. `allow`: only if there is no hardware. `prefer`: even
   * if there is hardware. `never`: a machine without hardware has no adapters. Default `allow`.
   */
  readonly software?: 'prefer' | 'allow' | 'never' | undefined
  /**
   * Whether virtual devices may bind one another's memory. They share it, so the default is true; use false
   * to test the path without peer access.
   */
  readonly peerAccess?: boolean | undefined
  /**
   * Dawn toggles to enable, in Node only: `disable_workgroup_init`, `dump_shaders`. Some change what WGSL
   * means.
   */
  readonly toggles?: readonly string[] | undefined
}
