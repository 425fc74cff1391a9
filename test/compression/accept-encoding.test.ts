import { describe, expect, it } from 'vitest'

import { chooseEncoding } from '../../src/compression/accept-encoding.ts'

describe('chooseEncoding', () => {
  it.each([
    ['gzip, deflate, br', 'br'],
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['gzip;q=1.000', 'gzip'],
    ['gzip ; q=0.5 ,\tbr;q=0.4', 'gzip'],
    ['br;q=0.001', 'br'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['br;q=0.5, *;q=0.7', 'gzip'],
    ['gzip, identity', 'gzip'],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    [', ,gzip,,', 'gzip'],
  ])('takes from %j %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding)
  })

  it.each([
    [undefined],
    [null],
    [''],
    ['identity'],
    ['deflate, zstd'],
    ['x-gzip-like'],
    ['gzip;q=0'],
    ['gzip;q=0.000, br;q=0'],
    ['*;q=0'],
    ['identity, gzip;q=0.5'],
    ['*, gzip;q=0.5, br;q=0.9'],
    ['identity;q=0'],
    ['gzip;q=2'],
    ['gzip;q=-1'],
    ['gzip;q=0.5555'],
    ['gzip;q=NaN'],
    ['gzip;q'],
    ['gzip;level=9'],
    ['gzip br'],
    ['"gzip"'],
    ['__proto__, constructor'],
  ])('leaves a body as it is for %j', (header) => {
    expect(chooseEncoding(header)).toBeUndefined()
  })

  it.each([
    ['spaces', ' '.repeat(1_000_000)],
    ['one long name', `${'a'.repeat(1_000_000)} ;`],
    ['a million commas', ','.repeat(1_000_000)],
    ['a weight of a million digits', `gzip;q=0.${'0'.repeat(1_000_000)}`],
    ['spaces before an end that does not fit', `gzip${' '.repeat(1_000_000)}x`],
    ['many semicolons', `gzip${';q=0'.repeat(250_000)}`],
  ])('reads %s in no time', (_what, header) => {
    const started = performance.now()
    chooseEncoding(header)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
