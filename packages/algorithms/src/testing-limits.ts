import type { BufferView, DeviceLimits, Recorder, UntypedArguments } from '@tandem-gpu/core'

/**
 * A recorder whose devices have smaller limits, which tests how work is split without gigabytes of data. Not
 * part of the published package.
 */
export function withLimits(recorder: Recorder, limits: Partial<DeviceLimits>): Recorder {
  const devices = recorder.devices.map(
    (device) =>
      new Proxy(device, {
        get: (target, key) =>
          key === 'limits' ? { ...target.limits, ...limits } : Reflect.get(target, key, target),
      }),
  )
  return {
    devices,
    dispatch(kernel, options) {
      const [x, y = 1] = typeof options.workgroups === 'number' ? [options.workgroups] : options.workgroups
      const most = limits.maxWorkgroupsPerDimension
      if (most !== undefined && Math.max(x, y) > most)
        throw new RangeError(`${x} × ${y} workgroups exceed ${most}`)
      for (const argument of Object.values(options.args as UntypedArguments)) {
        if (typeof argument !== 'object' || !('offset' in argument)) continue
        const { rows, stride, columns, offset } = argument as BufferView
        const bytes = ((rows - 1) * stride + columns + (offset % 64)) * 4
        const limit = limits.maxStorageBindingByteLength
        if (limit !== undefined && bytes > limit)
          throw new RangeError(`a binding of ${bytes} bytes exceeds ${limit}`)
      }
      recorder.dispatch(kernel, options)
    },
    touches: (...args) => recorder.touches(...args),
    fence: (...args) => recorder.fence(...args),
    copy: (...args) => recorder.copy(...args),
    fill: (...args) => recorder.fill(...args),
    upload: (...args) => recorder.upload(...args),
    download: (...args) => recorder.download(...args),
    scratch: (...args) => recorder.scratch(...args),
    parameter: (...args) => recorder.parameter(...args),
  }
}
