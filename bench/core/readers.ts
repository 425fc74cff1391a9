import { deepEqual } from 'node:assert/strict'

import { readColumns } from '../../src/rates/csv.ts'
import { addDays } from '../../src/rates/dates.ts'
import { parseRows } from '../../src/upstream/published.ts'
import { readSdmxCsv } from '../../src/upstream/sdmx.ts'
import { readXml } from '../../src/upstream/xml.ts'
import type { Comparison } from './comparison.ts'

const CODES = (
  'AED AUD BGN BRL CAD CHF CNY CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW ' +
  'KZT MXN MYR NOK NZD PHP PLN QAR RON RSD RUB SAR SEK SGD THB TRY UAH USD VND ZAR'
).split(' ')

/** A year of working days. */
const DAYS = Array.from({ length: 261 }, (_, index) => addDays('2025-11-20', index))

/** The day, the currency and the rate of each quote, one after the other: the same on both sides. */
type Extracted = (string | number)[]

type Row = readonly [day: string, code: string, rate: string]

const ROWS: Row[] = DAYS.flatMap((day, row) =>
  CODES.map((code, column) => {
    const rate = 1 + column + ((row * 7_919 + column * 104_729) % 10_000) / 10_000
    return [day, code, rate.toFixed(4)] as const
  }),
)

/**
 * Compares the readers of published files with the fastest extraction of the same values that checks nothing: a year of 40
 * currencies in each form.
 *
 * @throws {Error} if the two differ
 */
export function readers(): Comparison[] {
  return [csv(), sdmx(), xml(), json()].map(({ name, minimum, ours, least, goal = 3 }) => {
    const extracted = ROWS.flatMap(([day, code, rate]) => [day, code, Number(rate)])
    deepEqual([ours(), least()], [extracted, extracted])
    const reference = { name: minimum, run: least }
    return { name: `reading ${name}`, ours, reference, goal, measures: 'cpu-time' }
  })
}

interface Reader {
  name: string
  minimum: string
  ours: () => Extracted
  least: () => Extracted
  /** Limit of the ratio (default 3). */
  goal?: number
}

function csv(): Reader {
  const lines = DAYS.map((day, row) => {
    const rates = ROWS.slice(row * CODES.length, (row + 1) * CODES.length)
    return [day, ...rates.map(([, , rate]) => rate)].join()
  })
  const text = [['Date', ...CODES].join(), ...lines].join('\r\n')
  return {
    name: 'CSV with a column for each currency',
    minimum: '`split` of lines and cells, `Number`',
    ours: () => tableOf(readColumns(text, ['Date', ...CODES], ',')),
    least: () =>
      tableOf(
        text
          .split('\r\n', DAYS.length + 1)
          .slice(1)
          .map((line) => line.split(',')),
      ),
  }
}

function tableOf(rows: Iterable<readonly (string | undefined)[]>): Extracted {
  const values: Extracted = []
  for (const cells of rows) {
    for (const [index, code] of CODES.entries()) {
      values.push(cells[0] ?? '', code, Number(cells[index + 1]))
    }
  }
  return values
}

function sdmx(): Reader {
  const rows = ROWS.map(([day, code, rate]) => `B,${code},NOK,SP,4,false,0,C,${day},${rate}\n`)
  const header =
    'FREQ,BASE_CUR,QUOTE_CUR,TENOR,DECIMALS,CALCULATED,UNIT_MULT,COLLECTION,TIME_PERIOD,OBS_VALUE\n'
  const text = header + rows.join('')
  const fixed = { FREQ: ['B'], QUOTE_CUR: ['NOK'], TENOR: ['SP'] }
  return {
    name: 'SDMX-CSV',
    minimum: '`split` of lines and cells, `Number`',
    ours: () => {
      const values: Extracted = []
      for (const { date, code, value } of readSdmxCsv(text, { currency: 'BASE_CUR', fixed })) {
        values.push(date, code, Number(value))
      }
      return values
    },
    least: () =>
      text
        .split('\n', ROWS.length + 1)
        .slice(1)
        .flatMap((line) => {
          const cells = line.split(',')
          return [cells[8] ?? '', cells[1] ?? '', Number(cells[9])]
        }),
  }
}

function xml(): Reader {
  const rates = ROWS.map(
    ([day, code, rate]) => `    <Rate date="${day}" currency="${code}">${rate}</Rate>\n`,
  )
  const text = `<?xml version="1.0" encoding="utf-8"?>\n<DataSet xmlns="urn:rates">\n${rates.join('')}</DataSet>\n`
  return {
    name: 'XML with an element for each rate',
    minimum: '`matchAll`, `Number`',
    // The parser checks every character and builds a tree.
    goal: 18,
    ours: () => {
      const values: Extracted = []
      for (const { attributes, text: rate } of readXml(text, 'DataSet/Rate')) {
        values.push(attributes.get('date') ?? '', attributes.get('currency') ?? '', Number(rate))
      }
      return values
    },
    least: () => {
      const values: Extracted = []
      const pattern = /<Rate date="([^"]*)" currency="([^"]*)">([^<]*)<\/Rate>/g
      for (const [, day = '', code = '', rate] of text.matchAll(pattern)) {
        values.push(day, code, Number(rate))
      }
      return values
    },
  }
}

function json(): Reader {
  const rates = ROWS.map(([day, code, rate]) => ({ day, code, rate }))
  const text = JSON.stringify({ rates })
  const extract = (rows: readonly unknown[]): Extracted =>
    rows.flatMap((row) => {
      const { day, code, rate } = Object(row)
      return [day, code, Number(rate)]
    })
  return {
    name: 'JSON with an object for each rate',
    minimum: '`JSON.parse`, `Number`',
    ours: () => extract(parseRows(text, 'rates')),
    least: () => extract(JSON.parse(text).rates),
  }
}
