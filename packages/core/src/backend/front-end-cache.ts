/**
 * Results of the WGSL front end, kept between processes. A result must depend only on its key and on the code
 * of `@tandem-gpu/wgsl`. Results are plain data, as `structuredClone` takes it.
 */
export interface FrontEndCache {
  /** Undefined if nothing is kept under the key, or if it is damaged or from other code. */
  get(key: readonly string[]): unknown
  /** Failures are not reported: the result is then computed again. */
  set(key: readonly string[], result: unknown): void
}
