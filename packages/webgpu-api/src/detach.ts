/** Detaches an ArrayBuffer, as WebGPU does with mapped ranges, so that its bytes are no longer accessible. */
export function detach(arrayBuffer: ArrayBuffer): void {
  try {
    structuredClone(arrayBuffer, { transfer: [arrayBuffer] })
  } catch (error) {
    // The caller has transferred it elsewhere, which detaches it too.
    if (!(error instanceof DOMException && error.name === 'DataCloneError')) throw error
  }
}
