import { describe, expect, it } from 'vitest'

import { toAge, toMinute } from '../../src/cli/terminal/age.ts'
import {
  alignedNumbers,
  shortened,
  toColumns,
  toTable,
  wrapped,
} from '../../src/cli/terminal/layout.ts'
import { describeTerminal } from '../../src/cli/terminal/terminal.ts'

describe('a layout', () => {
  it('has numbers under each other by their points, all of one length', () => {
    expect(alignedNumbers([1, 1234.5, 0.25, 1e-7])).toEqual([
      '   1   ',
      '1234.5 ',
      '   0.25',
      '   1e-7',
    ])
    expect(alignedNumbers([])).toEqual([])
  })

  it('has as many columns as there is room for, downwards', () => {
    const cells = ['a', 'bb', 'c', 'd', 'e']
    expect(toColumns(cells, 12)).toEqual(['a    c    e', 'bb   d'])
    expect(toColumns(cells, 11)).toEqual(['a    d', 'bb   e', 'c'])
    expect(toColumns(cells, 7)).toEqual(['a    d', 'bb   e', 'c'])
    expect(toColumns(cells, 6)).toEqual(cells)
    expect(toColumns(cells, 1)).toEqual(cells)
    expect(toColumns([], 80)).toEqual([])
  })

  it('cuts what is too long, with a mark', () => {
    expect(shortened('Australian Dollar', 6, '…')).toBe('Austr…')
    expect(shortened('Euro', 4, '…')).toBe('Euro')
    expect(shortened('Euro', 0, '…')).toBe('')
  })

  it('wraps words', () => {
    expect(wrapped('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrapped('unbreakable a', 3)).toEqual(['unbreakable', 'a'])
    expect(wrapped('', 3)).toEqual([])
  })

  it('has cells of rows under each other', () => {
    expect(
      toTable([
        ['a', 'b', 'c'],
        ['aaa', '', 'c'],
      ]),
    ).toEqual(['a    b  c', 'aaa     c'])
  })
})

describe('an age', () => {
  const HOUR = 3_600_000

  it.each([
    [0, 'just now'],
    [-5_000, 'just now'],
    [59_999, 'just now'],
    [60_000, '1 minute ago'],
    [HOUR - 1, '59 minutes ago'],
    [HOUR, '1 hour ago'],
    [24 * HOUR, '1 day ago'],
    [72 * HOUR + 5, '3 days ago'],
  ])('of %d ms is %s', (age, text) => {
    expect(toAge(age)).toBe(text)
  })

  it('goes with an instant to the minute', () => {
    expect(toMinute(Date.UTC(2026, 10, 20, 19, 5, 59))).toBe('2026-11-20 19:05 UTC')
  })
})

describe('describeTerminal', () => {
  const utf8 = { LANG: 'en_GB.UTF-8', TERM: 'xterm' }

  it('takes width, colours and letters from the stream and the environment', () => {
    expect(describeTerminal({ isTTY: true, columns: 132 }, utf8, 'linux')).toEqual({
      isTTY: true,
      width: 132,
      hasColour: true,
      hasUnicode: true,
    })
    expect(describeTerminal({}, utf8, 'linux')).toMatchObject({ isTTY: false, hasColour: false })
  })

  it('takes 80 columns where a terminal does not tell', () => {
    expect(describeTerminal({ isTTY: true, columns: 0 }, utf8, 'linux').width).toBe(80)
  })

  it.each([
    [
      { ...utf8, NO_COLOR: '1' },
      { hasColour: false, hasUnicode: true },
    ],
    [{ ...utf8, NO_COLOR: '' }, { hasColour: true }],
    [
      { ...utf8, TERM: 'dumb' },
      { hasColour: false, hasUnicode: false },
    ],
    [{ LANG: 'C' }, { hasUnicode: false }],
    [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, { hasUnicode: false }],
    [{ LANG: 'C', LC_CTYPE: 'C.utf8' }, { hasUnicode: true }],
    [{}, { hasUnicode: false }],
  ])('heeds %j', (env, expected) => {
    expect(describeTerminal({ isTTY: true }, env, 'linux')).toMatchObject(expected)
  })

  it('trusts Windows, which says nothing of its letters', () => {
    expect(describeTerminal({ isTTY: true }, {}, 'win32').hasUnicode).toBe(true)
  })
})
