/** WebGPU's flag values. Node has no such globals, and the specification fixes the numbers. */
export const bufferUsage = {
  mapRead: 0x1,
  copySource: 0x4,
  copyTarget: 0x8,
  uniform: 0x40,
  storage: 0x80,
  queryResolve: 0x200,
} as const

export const mapRead = 0x1
export const computeStage = 0x4

/** Bound ranges start at multiples of this on every device. */
export const bindingOffsetAlignment = 256
