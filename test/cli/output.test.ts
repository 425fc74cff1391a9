import { describe, expect, it } from 'vitest'

import { DAY, NOW, publish, run, show } from './run.ts'

/** Codes of no currency, so that a table is a market and their lines have no names. */
const FILLERS = Object.fromEntries(
  Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (end) => [`VK${end}`, 1]),
)

/** A `fetch` of an upstream with a few rates of its own. */
function publishRates(rates: Record<string, number>): typeof fetch {
  return publish({ latest: { rates: { ...FILLERS, USD: 1, ...rates } } })
}

describe('ratesmith convert on a terminal', () => {
  const fetch = publishRates({ EUR: 0.9864851534, JPY: 176.0284108 })
  const showRows = async (columns: number): Promise<string[]> => {
    const lines = await show(['convert', '100', 'USD', 'EUR,JPY', '--reverse'], columns, { fetch })
    const start = lines.findIndex((line) => line.startsWith('code'))
    return lines.slice(start, start + 3)
  }

  it('aligns numbers by their decimal points, and shows names', async () => {
    expect(await showRows(80)).toEqual([
      'code  USD                  rate            name',
      'EUR   101.36999999984        0.9864851534  Euro',
      'JPY     0.568090114235128  176.0284108     Japanese Yen',
    ])
  })

  it('cuts names, then leaves out names and rates, but never cuts a rate', async () => {
    expect((await showRows(50)).at(-1)).toBe('JPY     0.568090114235128  176.0284108     Japane…')
    expect((await showRows(46)).at(-1)).toBe('JPY     0.568090114235128  176.0284108')
    expect(await showRows(40)).toEqual([
      'code  USD',
      'EUR   101.36999999984',
      'JPY     0.568090114235128',
    ])
  })

  it.each([80, 46, 40, 20])('fits %d characters', async (columns) => {
    expect(Math.max(...(await showRows(columns)).map((line) => line.length))).toBeLessThanOrEqual(
      columns,
    )
  })

  it.each([
    [0, 'just now'],
    [-5_000, 'just now'],
    [59_999, 'just now'],
    [60_000, '1 minute ago'],
    [DAY / 24 - 1, '59 minutes ago'],
    [DAY / 24, '1 hour ago'],
    [DAY, '1 day ago'],
    [3 * DAY + 5, '3 days ago'],
  ])('shows when rates that are %d ms old were published: %s', async (age, words) => {
    const updatedAt = Date.parse('2026-11-20T19:05:59Z')
    const latest = {
      time_last_update_unix: updatedAt / 1_000,
      time_next_update_unix: (NOW + 9 * DAY) / 1_000,
    }
    const [, about] = await show(['convert', 'USD', 'EUR'], 120, {
      fetch: publish({ latest }),
      now: () => updatedAt + age,
    })
    expect(about).toMatch(new RegExp(`, published 2026-11-20 19:05 UTC, ${words}$`))
  })

  it('names the day of the rates, and the requested one where it is another', async () => {
    const fetch = publish({ francs: { '2020-02-27': 1.06, '2020-02-28': 1.0614 } })
    const about = async (day: string): Promise<string | undefined> =>
      (await show(['convert', 'EUR', 'CHF', '--date', day], 120, { fetch }))[1]
    expect(await about('2020-02-28')).toMatch(/, reference rates of 2020-02-28$/)
    expect(await about('2020-02-29')).toMatch(/ of 2020-02-28, the last before 2020-02-29$/)
  })
})

describe('ratesmith latest on a terminal', () => {
  const showCells = async (columns: number, rates: Record<string, number>): Promise<string[]> => {
    const symbols = Object.keys(rates).join(',')
    const lines = await show(['latest', '--symbols', symbols], columns, {
      fetch: publishRates(rates),
    })
    return lines.filter((line) => line.startsWith('VK'))
  }

  it('aligns numbers by their decimal points', async () => {
    const rates = { VKA: 1, VKB: 1234.5, VKC: 0.25, VKD: 1e-7 }
    expect(await showCells(20, rates)).toEqual([
      'VKA     1',
      'VKB  1234.5',
      'VKC     0.25',
      'VKD     1e-7',
    ])
  })

  it.each([
    [24, ['VKA  1   VKC  3   VKE  5', 'VKB  2   VKD  4']],
    [23, ['VKA  1   VKD  4', 'VKB  2   VKE  5', 'VKC  3']],
    [15, ['VKA  1   VKD  4', 'VKB  2   VKE  5', 'VKC  3']],
    [14, ['VKA  1', 'VKB  2', 'VKC  3', 'VKD  4', 'VKE  5']],
    [1, ['VKA  1', 'VKB  2', 'VKC  3', 'VKD  4', 'VKE  5']],
  ])('fills %d characters with columns, downwards', async (columns, lines) => {
    expect(await showCells(columns, { VKA: 1, VKB: 2, VKC: 3, VKD: 4, VKE: 5 })).toEqual(lines)
  })

  it.each([
    [24, ['(ratesmith),', 'https://www.npmjs.com/package/ratesmith', 'For information only,']],
    [1, ['https://www.npmjs.com/package/ratesmith', 'For', 'information', 'only,', 'not', 'an']],
  ])('wraps words at %d characters, and leaves a longer one whole', async (columns, lines) => {
    const shown = await show(['latest', '--symbols', 'EUR', '--demo'], columns)
    const start = shown.indexOf(lines[0] ?? '')
    expect(shown.slice(start, start + lines.length)).toEqual(lines)
  })
})

describe('ratesmith currencies on a terminal', () => {
  it.each([
    ['C.UTF-8', '…'],
    ['C', '.'],
  ])('shows a table, and cuts names with a mark that %s has: %s', async (LANG, mark) => {
    const lines = await show(['currencies', 'EURO', '--demo'], 50, { env: { LANG } })
    expect(lines.slice(0, 4)).toEqual([
      'code  no.  digits  latest  history  name',
      'CHE   947  2       no      no       WIR Euro',
      'EUR   978  2       yes     yes      Euro',
      `XBA   955  -       no      no       European Comp${mark}`,
    ])
  })
})

describe('a terminal', () => {
  const history = ['history', 'USD', 'EUR', '--demo']
  const UTF8 = { LANG: 'en_GB.UTF-8', TERM: 'xterm' }

  it.each([
    [UTF8, { hasColour: true, hasUnicode: true }],
    [
      { ...UTF8, NO_COLOR: '1' },
      { hasColour: false, hasUnicode: true },
    ],
    [
      { ...UTF8, NO_COLOR: '' },
      { hasColour: true, hasUnicode: true },
    ],
    [
      { ...UTF8, TERM: 'dumb' },
      { hasColour: false, hasUnicode: false },
    ],
    [{ LANG: 'C' }, { hasColour: true, hasUnicode: false }],
    [
      { LANG: 'en_GB.UTF-8', LC_ALL: 'C' },
      { hasColour: true, hasUnicode: false },
    ],
    [
      { LANG: 'C', LC_CTYPE: 'C.utf8' },
      { hasColour: true, hasUnicode: true },
    ],
    [{}, { hasColour: true, hasUnicode: false }],
  ])('shows colours and letters as the environment allows: %j', async (env, expected) => {
    const { stdout } = await run(history, { env, columns: 80 })
    const seen = { hasColour: stdout.includes('\u001B['), hasUnicode: stdout.includes('│') }
    expect(seen).toEqual(expected)
  })

  it('shows Unicode on Windows, whatever the environment', async () => {
    const { stdout } = await run(history, { platform: 'win32', columns: 80 })
    expect(stdout).toContain('│')
  })

  it.each([
    [132, 132],
    [0, 80],
  ])('that says it is %d characters wide is filled up to %d', async (columns, width) => {
    const lines = await show(history, columns)
    expect(Math.max(...lines.map((line) => line.length))).toBe(width)
  })

  it('is not what a pipe is, which gets plain lines', async () => {
    const { stdout } = await run(history, { env: UTF8 })
    expect(stdout).toMatch(/^(\d{4}-\d\d-\d\d\t[\d.]+\n)+$/)
  })
})
