// A program has these types from @webgpu/types, from the DOM types of TypeScript 6, or not at all: an
// interface of the same name merges with the real one where that is present.
declare global {
  interface GPU {}
  interface GPUDevice {}
  interface GPUBuffer {}
}

export {}
