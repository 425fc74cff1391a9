import { describe, expect, it } from 'vitest'

import { dateInWords, durationInWords, publicationInWords } from '../../src/explorer/ages.ts'

const HOUR = 3_600_000

describe('durationInWords', () => {
  it.each([
    [-5, 'less than a minute'],
    [59_999, 'less than a minute'],
    [60_000, '1 minute'],
    [HOUR - 1, '59 minutes'],
    [HOUR, '1 hour'],
    [48 * HOUR - 1, '47 hours'],
    [48 * HOUR, '2 days'],
    [400 * 24 * HOUR, '400 days'],
  ])('says of %d ms: %s', (duration, words) => {
    expect(durationInWords(duration)).toBe(words)
  })
})

describe('publicationInWords', () => {
  const publication = { updatedAt: 0, nextUpdateAt: 24 * HOUR }

  it.each([
    [3 * HOUR, 'Published 3 hours ago, next update expected in 21 hours'],
    [24 * HOUR - 1, 'Published 23 hours ago, next update expected in less than a minute'],
    [24 * HOUR + 60_000, 'Published 24 hours ago, next update due now'],
    [75 * HOUR, 'Published 3 days ago, next update overdue for 2 days'],
    // The clock of the reader is behind the server's.
    [-HOUR, 'Published less than a minute ago, next update expected in 25 hours'],
  ])('says after %d ms: %s', (now, words) => {
    expect(publicationInWords(publication, now)).toBe(words)
  })
})

it('tells the day of the week of a date', () => {
  expect(dateInWords('2026-11-20')).toMatch(/^Friday,? 20 November 2026$/)
})
