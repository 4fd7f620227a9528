import { type Device, type DeviceGroup, GpuError } from '@tandem-gpu/core'
import { type RowRange, splitRows } from '../../sharded-matrix.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { measureMatmulModel } from './measure-model.ts'
import {
  assumedMatmulModel,
  devicesByUse,
  type MatmulModel,
  type MatmulPrediction,
  type PredictOptions,
  predictMatmul,
} from './predict-matmul.ts'

/** The caller's choice of devices. */
export interface ChooseDevicesOptions {
  /**
   * The number of devices of the group that compute, each some rows of A times all of B. Default: all.
   * `auto`: the number that the prediction recommends.
   */
  readonly devices?: number | 'auto' | undefined
  /** The rates that predictions use; `measure` runs a short benchmark first. Default: assumed figures. */
  readonly model?: MatmulModel | 'measure' | undefined
}

/** The devices that compute a product. */
export interface DeviceChoice {
  readonly prediction: MatmulPrediction
  /** In order of their ordinals. */
  readonly devices: readonly Device[]
  /** Rows of A and C that each device computes. */
  readonly ranges: readonly RowRange[]
  /** The reasons, a sentence each: why these devices, and the prediction. */
  readonly reasons: readonly string[]
}

/**
 * Chooses the devices of a product of either type. `outline` describes, for the prediction, how the product
 * would run on given devices. Throws `validation` for a number of devices that the group does not have.
 */
export async function chooseDevices(
  group: DeviceGroup,
  shape: MatmulShape,
  type: 'f32' | 'f16',
  options: ChooseDevicesOptions,
  outline: (devices: readonly Device[]) => PredictOptions,
): Promise<DeviceChoice> {
  const ordered = devicesByUse(group)
  const wanted = options.devices ?? ordered.length
  if (wanted !== 'auto' && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= ordered.length))
    throw new GpuError('validation', `${wanted} devices were requested, but the group has ${ordered.length}.`)
  const model =
    options.model === 'measure'
      ? await measureMatmulModel(group, type)
      : (options.model ?? assumedMatmulModel(group))
  const prediction = predictMatmul(group, shape, model, {
    ...outline(ordered.slice(0, wanted === 'auto' ? ordered.length : wanted)),
    ...(wanted !== 'auto' && { chosen: wanted }),
  })
  const devices = ordered.slice(0, prediction.chosen).sort((x, y) => x.ordinal - y.ordinal)
  const why =
    options.devices === undefined ? 'all of the group' : wanted === 'auto' ? 'by prediction' : 'as requested'
  const who =
    ordered.length === 1
      ? 'The group has one device'
      : `${devices.length} of ${ordered.length} devices ${devices.length === 1 ? 'computes' : 'compute'}, ${why}`
  return {
    prediction,
    devices,
    ranges: splitRows(shape.m, devices.length),
    reasons: [`${who}.`, prediction.reason],
  }
}
