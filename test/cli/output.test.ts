import { describe, expect, it } from 'vitest'

import { addDays } from '../fixtures/dates.ts'
import { pairsOf } from '../fixtures/rows.ts'
import { DAY, NOW, publish, run, show } from './run.ts'

/** Returns a `fetch` that serves `rates`, and 26 codes without a name so that the table is large enough. */
function publishRates(rates: Record<string, number>): typeof fetch {
  const fillers = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => [`VK${letter}`, 1])
  return publish({ latest: { rates: { ...Object.fromEntries(fillers), USD: 1, ...rates } } })
}

/** Command lines with the end of the line that names the day. */
const DATED = `
  convert 5 EUR CHF --date 2020-02-28 => , reference rates of 2020-02-28
  convert 5 EUR CHF --date 2020-02-29 =>  of 2020-02-28, the last before 2020-02-29
  latest --date 2020-02-29 => 1 USD on 2020-02-28, the last before 2020-02-29
  convert 5 EUR CHF --date 2020-02-29 --rule next =>  of 2020-03-02, the next after 2020-02-29
  latest --date 2020-02-12 --rule period-end --max-age 1 => on 2020-02-28, the last of 2020-02
  latest --date 2020-02-28 --rule exact => 1 USD on 2020-02-28
  latest --date 2020-03-02 --rule previous-business-day => on 2020-02-28, the last before 2020-03-02
  history EUR CHF --start 2020-02-01 --end 2020-02-29 --interval month => 1 EUR in CHF, 2020-02-28 to 2020-02-28, the last of each month`

describe('ratesmith convert on a terminal', () => {
  it.each([
    [80, 'EUR   101.37      0.9864851534  Euro', 'JPY     0.5681  176.0284108     Japanese Yen'],
    [38, 'EUR   101.37      0.9864851534  Euro', 'JPY     0.5681  176.0284108     Japan…'],
    [37, 'EUR   101.37      0.9864851534', 'JPY     0.5681  176.0284108'],
    [28, 'EUR   101.37', 'JPY     0.5681'],
    [10, 'EUR   101…', 'JPY     0…'],
  ])(
    'aligns columns and leaves out those that do not fit into %d characters',
    async (columns, euro, yen) => {
      const fetch = publishRates({ EUR: 0.9864851534, JPY: 176.0284108 })
      const lines = await show(['convert', '100', 'USD', 'EUR,JPY', '--reverse'], columns, {
        fetch,
      })
      const heads = lines.findIndex((line) => line.startsWith('code  US'))
      expect(lines.slice(heads + 1, heads + 3)).toEqual([euro, yen])
    },
  )

  it.each([
    [0, 'just now'],
    [-5_000, 'just now'],
    [59_999, 'just now'],
    [60_000, '1 minute ago'],
    [DAY / 24 - 1, '59 minutes ago'],
    [DAY / 24, '1 hour ago'],
    [DAY, '1 day ago'],
    [3 * DAY + 5, '3 days ago'],
  ])('shows the age of rates that are %d ms old: %s', async (age, words) => {
    const [published, next] = [NOW / 1_000, (NOW + 9 * DAY) / 1_000]
    const latest = { time_last_update_unix: published, time_next_update_unix: next }
    const surroundings = { fetch: publish({ latest }), now: () => NOW + age }
    const [result = '', ...about] = await show(['convert', 'USD', 'EUR'], 120, surroundings)
    expect(result).toMatch(/^1 USD = [\d.]+ EUR$/)
    expect(about).toEqual([
      `published 2026-11-20 19:05 UTC, ${words}`,
      'Rates By Exchange Rate API, https://www.exchangerate-api.com',
      'For information only, not an offer to exchange currency.',
    ])
  })

  it.each(pairsOf(DATED))(
    'names the day of the rates, and the requested one: %s',
    async (...row) => {
      const [args, words] = row
      const at = args.startsWith('convert') ? 1 : 0
      const lines = await show(args.split(' '), 120, { fetch: publish() })
      expect(lines[at]?.endsWith(words)).toBe(true)
    },
  )
})

describe('ratesmith latest on a terminal', () => {
  it('aligns and groups numbers, without the names that do not fit', async () => {
    const fetch = publishRates({ VKA: 1, VKB: 1234.5, VKC: 0.25, VKD: 1e-7 })
    const shown = await show(['latest', '--symbols', 'VKA,VKB,VKC,VKD'], 20, { fetch })
    const lines = ['code  rate', 'VKA       1', 'VKB   1,234.5', 'VKC       0.25', 'VKD       1e-7']
    expect(shown).toEqual(expect.arrayContaining(lines))
  })

  it.each([
    [24, ['For information only,', 'not an offer to exchange', 'currency.']],
    [1, ['https://www.npmjs.com/package/ratesmith', 'For', 'information', 'only,', 'not', 'an']],
  ])('wraps text at %d characters without splitting words', async (columns, lines) => {
    const shown = await show(['latest', '--symbols', 'EUR', '--demo'], columns)
    const start = shown.indexOf(lines[0] ?? '')
    expect(shown.slice(start, start + lines.length)).toEqual(lines)
  })
})

describe('ratesmith currencies on a terminal', () => {
  it.each([
    ['C.UTF-8', '…'],
    ['C', '.'],
  ])('shows a table, and cuts names with a mark of the locale %s: %s', async (LANG, mark) => {
    const lines = await show(['currencies', 'EURO', '--demo'], 50, { env: { LANG } })
    expect(lines.slice(0, 3)).toEqual([
      'code  no.  digits  latest  history  name',
      'EUR   978  2       yes     yes      Euro',
      `XBA   955  -       no      no       European Comp${mark}`,
    ])
  })
})

describe('ratesmith history', () => {
  const history = ['history', 'EUR', 'CHF', '--period', '1W']
  const fetch = publish({ francs: { '2026-11-16': 0.93, '2026-11-18': 0.94, '2026-11-20': 0.92 } })
  const UTF8 = { LANG: 'en_GB.UTF-8', TERM: 'xterm' }

  it.each([
    [UTF8, 'linux', { hasColour: true, hasUnicode: true }],
    [{ ...UTF8, NO_COLOR: '1' }, 'linux', { hasColour: false, hasUnicode: true }],
    [{ ...UTF8, NO_COLOR: '' }, 'linux', { hasColour: true, hasUnicode: true }],
    [{ ...UTF8, FORCE_COLOR: '0' }, 'linux', { hasColour: false, hasUnicode: true }],
    [{ ...UTF8, FORCE_COLOR: '', NO_COLOR: '1' }, 'linux', { hasColour: true, hasUnicode: true }],
    [{ ...UTF8, TERM: 'dumb' }, 'linux', { hasColour: false, hasUnicode: false }],
    [{ LANG: 'C' }, 'linux', { hasColour: true, hasUnicode: false }],
    [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, 'linux', { hasColour: true, hasUnicode: false }],
    [{ LANG: 'C', LC_CTYPE: 'C.utf8' }, 'linux', { hasColour: true, hasUnicode: true }],
    [{}, 'linux', { hasColour: true, hasUnicode: false }],
    [{}, 'win32', { hasColour: true, hasUnicode: true }],
  ])(
    'uses colours and Unicode only if the terminal has them: %j on %s',
    async (env, platform, expected) => {
      const { stdout } = await run(history, { env, platform, fetch, columns: 80 })
      const seen = { hasColour: stdout.includes('\u001B['), hasUnicode: stdout.includes('│') }
      expect(seen).toEqual(expected)
    },
  )

  it.each([
    [132, 132],
    [0, 80],
  ])('fills a terminal of %d columns to %d, with a summary below', async (columns, width) => {
    const lines = await show(history, columns, { fetch })
    expect(Math.max(...lines.map((line) => line.length))).toBe(width)
    expect(lines.slice(13, 19)).toEqual([
      'open     0.93',
      'close    0.92',
      'high     0.94 on 2026-11-18',
      'low      0.92 on 2026-11-20',
      'average  0.93',
      'change   -1.0753 %',
    ])
  })
})

it('has colours in a pipe only with FORCE_COLOR', async () => {
  const hasColour = async (env: Record<string, string>) =>
    (await run(['doctor', '--demo'], { env })).stdout.includes('\u001B[')
  expect([await hasColour({}), await hasColour({ FORCE_COLOR: '1' })]).toEqual([false, true])
})

/** Lines of the chart above its axis. */
const HEIGHT = 10

describe('ratesmith history of several currencies', () => {
  const demo = ['history', 'EUR', 'USD,GBP', '--demo']

  it('shows a row per currency on a terminal, with the columns that fit', async () => {
    const years = ['--start', '2024-01-01', '--interval', 'year', '--value', 'average']
    const [title, head, ...rows] = await show([...demo, ...years], 100)
    expect(title).toBe('1 EUR, 2024-12-31 to 2026-11-20, the average of each year')
    expect(head).toMatch(/^code  change +open +close +high +low +average$/)
    expect(rows.map((row) => row.slice(0, 8))).toEqual([
      expect.stringMatching(/^USD {3}[+-]?\d/),
      expect.stringMatching(/^GBP {3}[+-]?\d/),
      'Syntheti',
      'For info',
    ])
    const narrow = await show([...demo, ...years], 60)
    expect(narrow[1]).toMatch(/^code  change +open +close +high$/)
  })

  it.each([
    ['', /^USD\t2026-11-13\t[\d.]+\n(USD\t.+\n){5}(GBP\t2026-11-\d\d\t[\d.]+\n){6}$/],
    ['--layout long', /^USD\t2026-11-13\t[\d.]+\n/],
    ['--fill previous', /^USD\t2026-11-13\t[\d.]+\t\nUSD\t2026-11-14\t[\d.]+\tfilled\n/],
    ['--layout wide', /^date\tUSD\tGBP\n(2026-11-\d\d\t[\d.]+\t[\d.]+\n){6}$/],
  ])('prints lines in a pipe, and each source once: %s', async (flags, expected) => {
    const args = [...demo, '--period', '1W', ...flags.split(' ').filter(Boolean)]
    const { code, stdout, stderr } = await run(args)
    expect(code).toBe(0)
    expect(stdout).toMatch(expected)
    expect(stderr.split('\n')).toHaveLength(3)
  })

  it('shows a wide layout as a table on a terminal', async () => {
    const lines = await show([...demo, '--period', '1W', '--layout', 'wide'], 80)
    expect(lines[0]).toMatch(/^date +USD +GBP$/)
    expect(lines[1]).toMatch(/^2026-11-13 {2}[\d.]+ +[\d.]+$/)
  })
})

/** Returns the chart that `ratesmith history` draws: all lines, and the marks in those above the axis. */
async function draw(francs: Record<string, number>, { columns = 40, LANG = 'C' } = {}) {
  const days = Object.keys(francs).sort()
  const args = ['history', 'EUR', 'CHF', '--start', days[0] ?? '', '--end', days.at(-1) ?? '']
  const shown = await show(args, columns, { fetch: publish({ francs }), env: { LANG } })
  // The title takes several lines on a narrow terminal.
  const start = shown.findIndex((line) => /[|│]/.test(line))
  const end = shown.findIndex((line) => line.startsWith('open '))
  const lines = start < 0 ? [] : shown.slice(start, end)
  return { lines, rows: lines.slice(0, HEIGHT).map(marksIn) }
}

/** Returns the columns of the marks in a line, counted from the axis. */
function marksIn(line: string): number[] {
  const plot = line.slice(line.indexOf('|') + 1)
  return [...plot.matchAll(/\*/g)].map(({ index }) => index)
}

function ratesOf(...rates: number[]): Record<string, number> {
  return Object.fromEntries(rates.map((rate, index) => [`2026-11-1${index}`, rate]))
}

describe('the chart of ratesmith history', () => {
  it('rises from the lower left to the upper right', async () => {
    const { rows } = await draw(ratesOf(1, 1.1, 1.2))
    expect(rows).toHaveLength(HEIGHT)
    expect(Math.max(...(rows[0] ?? []))).toBe(34)
    expect(Math.min(...(rows.at(-1) ?? []))).toBe(0)
    for (const [index, row] of rows.entries()) {
      expect(row.length, `line ${index}`).toBeGreaterThan(0)
      expect(Math.min(...row)).toBeLessThan(Math.min(...(rows[index - 1] ?? [Infinity])))
    }
  })

  it('fills the width and shows the highest rate, the lowest rate and both days', async () => {
    const { lines } = await draw(ratesOf(1.1, 0.95, 1))
    expect(lines[0]).toMatch(/^ 1\.1 \|/)
    expect(lines[9]).toMatch(/^0\.95 \|/)
    expect(lines[10]).toMatch(/^ {5}\+-{34}$/)
    expect(lines[11]).toMatch(/^ {6}2026-11-10 +2026-11-12$/)
    expect(Math.max(...lines.map((line) => line.length))).toBe(40)
  })

  it('shows an outlier among 3,000 days, many of which share its column', async () => {
    const many = Array.from({ length: 3_000 }, (_, day) => [addDays('2015-01-01', day), 1])
    const outlier = { [addDays('2015-01-01', 1_000)]: 1.1 }
    const { rows } = await draw({ ...Object.fromEntries(many), ...outlier })
    expect(rows[0]?.length).toBeGreaterThan(0)
  })

  it('leaves room for days without a rate', async () => {
    const { rows } = await draw({ '2026-11-01': 1, '2026-11-02': 1.1, '2026-11-11': 1 })
    expect(rows[0]?.length).toBeGreaterThan(0)
    expect(rows[0]?.every((column) => column < 10)).toBe(true)
  })

  it('draws a constant rate, or a single day, in the middle', async () => {
    for (const rates of [ratesOf(2, 2, 2), ratesOf(2)]) {
      const { rows } = await draw(rates)
      expect(rows.findIndex((row) => row.length > 0)).toBe(4)
      expect(rows.findLastIndex((row) => row.length > 0)).toBe(4)
    }
  })

  it('draws eight dots per character if the terminal has Unicode', async () => {
    const { lines } = await draw(ratesOf(1, 1.1), { columns: 80, LANG: 'C.UTF-8' })
    expect(lines[0]).toMatch(/^1\.1 │ +[\u2801-\u28FF]+$/)
    expect(lines[9]).toMatch(/^ {2}1 │[\u2801-\u28FF]+$/)
    // One dot per dot column, because the line is wider than high.
    const dots = Array.from(lines.slice(0, HEIGHT).join(''))
      .map((character) => (character.codePointAt(0) ?? 0) - 0x2800)
      .filter((bits) => bits > 0 && bits < 256)
      .reduce((sum, bits) => sum + bits.toString(2).replaceAll('0', '').length, 0)
    expect(dots).toBe((80 - 5) * 2)
  })

  it('is omitted on a terminal that is too narrow', async () => {
    expect((await draw(ratesOf(1, 1), { columns: 11 })).lines).not.toEqual([])
    expect((await draw(ratesOf(1, 1), { columns: 10 })).lines).toEqual([])
  })
})
