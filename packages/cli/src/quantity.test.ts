import { expect, it } from 'vitest'
import { formatBytes, formatNumber, formatSeconds, parseBytes } from './quantity.ts'

it.each([
  ['150000', 150000],
  ['64M', 64e6],
  ['1.5 GiB', 1.5 * 1024 ** 3],
  ['2kib', 2048],
  ['12B', 12],
  ['-1', undefined],
  ['1e6', 1_000_000],
  ['1.5e3', 1500],
  ['1e', undefined],
  ['12 parsecs', undefined],
  ['', undefined],
])('%j is %j bytes', (text, byteLength) => {
  expect(parseBytes(text)).toBe(byteLength)
})

it('shows three digits and a suitable unit', () => {
  expect([0, 0.00012, 1.2345, 123.4, 99999, 12345678, Number.NaN].map(formatNumber)).toEqual([
    '0',
    '1.20e-4',
    '1.23',
    '123',
    '99999',
    '1.23e+7',
    'NaN',
  ])
  expect([1.5, 0.00234, 4.2e-6].map(formatSeconds)).toEqual(['1.5 s', '2.34 ms', '4.2 µs'])
  expect([100, 2048, 151e9].map(formatBytes)).toEqual(['100 B', '2.0 KiB', '140.6 GiB'])
})
