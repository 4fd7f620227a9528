// A program gets these types from @webgpu/types or from the DOM types of TypeScript 6, or lacks them. An
// interface of the same name merges with the real one if there is one.
declare global {
  interface GPU {}
  interface GPUDevice {}
  interface GPUBuffer {}
}

export {}
