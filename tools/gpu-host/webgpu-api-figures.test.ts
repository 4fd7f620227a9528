import { expect, it } from 'vitest'
import { readMeasurement, readPage, withApiFigures } from './webgpu-api-figures.ts'

it('the page has the figures of the measurement', () => {
  const text = readPage()
  expect(text).toMatch(/<!-- webgpu-api:calls -->/)
  expect(text).toBe(withApiFigures(text, readMeasurement()))
})

it('a block without figures is an error', () => {
  const text = '<!-- webgpu-api:other -->\n<!-- /webgpu-api -->'
  expect(() => withApiFigures(text, readMeasurement())).toThrow('named other')
})
