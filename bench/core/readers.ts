import { deepEqual } from 'node:assert/strict'

import { readColumns } from '../../src/rates/csv.ts'
import { addDays } from '../../src/rates/dates.ts'
import type { CsvSeparator } from '../../src/rates/csv.ts'
import { parseRows, withPoint } from '../../src/upstream/published.ts'
import { readText } from '../../src/upstream/request.ts'
import { readSdmxCsv } from '../../src/upstream/sdmx.ts'
import type { SdmxForm } from '../../src/upstream/sdmx.ts'
import { readXml, readXmlTags } from '../../src/upstream/xml.ts'
import type { Comparison } from './comparison.ts'

const CODES = (
  'AED AUD BGN BRL CAD CHF CNY CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW ' +
  'KZT MXN MYR NOK NZD PHP PLN QAR RON RSD RUB SAR SEK SGD THB TRY UAH USD VND ZAR'
).split(' ')

/** A year of working days. */
const DAYS = Array.from({ length: 261 }, (_, index) => addDays('2025-11-20', index))

const GOAL = 3

/** The day, the currency and the rate of each quote, one after the other: the same on both sides. */
type Extracted = (string | number)[]

/** A reader, and the fastest extraction of the same values from the same text, without any check. */
interface Reader {
  name: string
  minimum: string
  ours: () => Extracted
  least: () => Extracted
}

/**
 * Compares the readers of published files with the fastest extraction of the same values: a year of 40 currencies, in the
 * forms that central banks publish.
 *
 * @throws {Error} if the two differ
 */
export async function readers(): Promise<Comparison[]> {
  const all = [
    ...tables(),
    quotedRows(),
    rowsWithCommas(),
    sdmx(),
    xmlWithAttributes(),
    xmlWithElements(),
    xmlTags(),
    json(),
  ]
  const comparisons = all.map(({ name, minimum, ours, least }): Comparison => {
    const extracted = least()
    deepEqual(ours(), extracted)
    deepEqual(extracted.length, 3 * DAYS.length * CODES.length)
    return {
      name: `reading ${name}`,
      ours,
      reference: { name: minimum, run: least },
      goal: GOAL,
      measures: 'cpu-time',
    }
  })
  return [...comparisons, await legacyBody()]
}

function rateOf(day: number, currency: number): string {
  return (1 + currency + ((day * 7_919 + currency * 104_729) % 10_000) / 10_000).toFixed(4)
}

/** Writes the rows of all days and currencies. */
function eachQuote(write: (day: string, code: string, rate: string) => string): string {
  return DAYS.flatMap((day, row) =>
    CODES.map((code, column) => write(day, code, rateOf(row, column))),
  ).join('')
}

/** A row for each day, with a column for each currency. */
function tables(): Reader[] {
  const write = (separator: string, comma: string): string =>
    ['Date', ...CODES].join(separator) +
    DAYS.map((day, row) => {
      const rates = CODES.map((_, column) => rateOf(row, column).replace('.', comma))
      return `\r\n${[day, ...rates].join(separator)}`
    }).join('')
  const plain = write(',', '.')
  const withCommas = write(';', ',')
  return [
    {
      name: 'CSV with a column for each currency',
      minimum: '`split` of lines and cells, `Number`',
      ours: () => columnsOf(plain, ',', (cell) => cell),
      least: () => splitTable(plain, ',', (cell) => cell),
    },
    {
      name: 'CSV with a column for each currency, semicolons and decimal commas',
      minimum: '`split` of lines and cells, `replace`, `Number`',
      ours: () => columnsOf(withCommas, ';', withPoint),
      least: () => splitTable(withCommas, ';', (cell) => cell.replace(',', '.')),
    },
  ]
}

function columnsOf(
  text: string,
  separator: CsvSeparator,
  decimal: (cell: string) => string,
): Extracted {
  const values: Extracted = []
  for (const [day = '', ...cells] of readColumns(text, ['Date', ...CODES], separator)) {
    for (let index = 0; index < CODES.length; index += 1) {
      values.push(day, CODES[index] ?? '', Number(decimal(cells[index] ?? '')))
    }
  }
  return values
}

function splitTable(
  text: string,
  separator: CsvSeparator,
  decimal: (cell: string) => string,
): Extracted {
  const values: Extracted = []
  const lines = text.split('\r\n')
  const header = lines[0]?.split(separator) ?? []
  for (let line = 1; line < lines.length; line += 1) {
    const cells = lines[line]?.split(separator) ?? []
    const day = cells[0] ?? ''
    for (let index = 1; index < cells.length; index += 1) {
      values.push(day, header[index] ?? '', Number(decimal(cells[index] ?? '')))
    }
  }
  return values
}

function quotedRows(): Reader {
  const text = `"Day","Currency","Rate"\n${eachQuote((...cells) => `"${cells.join('","')}"\n`)}`
  return {
    name: 'CSV with every cell in quotes',
    minimum: 'the same without quotes: `replaceAll`, `split`, `Number`',
    ours: () => rowsOf(text, ',', ['Day', 'Currency', 'Rate']),
    least: () => splitRows(text.replaceAll('"', ''), ',', [0, 1, 2]),
  }
}

function rowsWithCommas(): Reader {
  const rows = eachQuote((day, code, rate) => `${code};KBH;${day};${rate.replace('.', ',')}\n`)
  const text = `VALUTA;KURTYP;TID;INDHOLD\n${rows}`
  return {
    name: 'CSV with a row for each rate, semicolons and decimal commas',
    minimum: '`split` of lines and cells, `replace`, `Number`',
    ours: () => rowsOf(text, ';', ['TID', 'VALUTA', 'INDHOLD', 'KURTYP'], withPoint),
    least: () => splitRows(text, ';', [2, 0, 3], (cell) => cell.replace(',', '.')),
  }
}

function rowsOf(
  text: string,
  separator: CsvSeparator,
  columns: readonly string[],
  decimal = (cell: string): string => cell,
): Extracted {
  const values: Extracted = []
  for (const [day = '', code = '', rate = ''] of readColumns(text, columns, separator)) {
    values.push(day, code, Number(decimal(rate)))
  }
  return values
}

function splitRows(
  text: string,
  separator: CsvSeparator,
  [day, code, rate]: readonly [day: number, code: number, rate: number],
  decimal = (cell: string): string => cell,
): Extracted {
  const values: Extracted = []
  const lines = text.split('\n')
  for (let line = 1; line < lines.length - 1; line += 1) {
    const cells = lines[line]?.split(separator) ?? []
    values.push(cells[day] ?? '', cells[code] ?? '', Number(decimal(cells[rate] ?? '')))
  }
  return values
}

const FORM: SdmxForm = {
  currency: 'BASE_CUR',
  fixed: { FREQ: ['B'], QUOTE_CUR: ['NOK'], TENOR: ['SP'] },
}

function sdmx(): Reader {
  const header =
    'FREQ,BASE_CUR,QUOTE_CUR,TENOR,DECIMALS,CALCULATED,UNIT_MULT,COLLECTION,TIME_PERIOD,OBS_VALUE\n'
  const text =
    header + eachQuote((day, code, rate) => `B,${code},NOK,SP,4,false,0,C,${day},${rate}\n`)
  return {
    name: 'SDMX-CSV',
    minimum: '`split` of lines and cells, `Number`',
    ours: () => {
      const values: Extracted = []
      for (const { date, code, value } of readSdmxCsv(text, FORM)) {
        values.push(date, code, Number(value))
      }
      return values
    },
    least: () => splitRows(text, ',', [8, 1, 9]),
  }
}

const XML = '<?xml version="1.0" encoding="utf-8"?>\n'

function xmlWithAttributes(): Reader {
  const cubes = DAYS.map((day, row) => {
    const rates = CODES.map(
      (code, column) => `      <Rate currency="${code}">${rateOf(row, column)}</Rate>\n`,
    )
    return `    <Cube date="${day}">\n${rates.join('')}    </Cube>\n`
  })
  const text = `${XML}<DataSet xmlns="urn:rates">\n  <Body>\n${cubes.join('')}  </Body>\n</DataSet>\n`
  return {
    name: 'XML with a text for each rate',
    minimum: '`matchAll`, `Number`',
    ours: () => {
      const values: Extracted = []
      for (const { attributes, parent, text: rate } of readXml(text, 'DataSet/Body/Cube/Rate')) {
        const day = parent?.attributes.get('date') ?? ''
        values.push(day, attributes.get('currency') ?? '', Number(rate))
      }
      return values
    },
    least: () => matchDays(text, /<Cube date="([^"]*)">|<Rate currency="([^"]*)">([^<]*)<\/Rate>/g),
  }
}

/** Extracts the values of a pattern with the groups day, or currency and rate. */
function matchDays(text: string, pattern: RegExp): Extracted {
  const values: Extracted = []
  let current = ''
  for (const [, day, code = '', rate] of text.matchAll(pattern)) {
    if (day === undefined) values.push(current, code, Number(rate))
    else current = day
  }
  return values
}

function xmlWithElements(): Reader {
  const text = cyrillicXml()
  const pattern =
    /<Valute .*?<CharCode>([^<]*)<\/CharCode><Nominal>([^<]*)<\/Nominal><Name>[^<]*<\/Name><Value>([^<]*)<\/Value>/g
  return {
    name: 'XML with elements for each rate',
    minimum: '`matchAll`, `replace`, `Number`',
    ours: () => {
      const values: Extracted = []
      for (const { texts } of readXml(text, 'ValCurs/Valute')) {
        const rate = Number(withPoint(texts.get('Value')))
        values.push(texts.get('Nominal') ?? '', texts.get('CharCode') ?? '', rate)
      }
      return values
    },
    least: () => {
      const values: Extracted = []
      for (const [, code = '', units = '', rate = ''] of text.matchAll(pattern)) {
        values.push(units, code, Number(rate.replace(',', '.')))
      }
      return values
    },
  }
}

function cyrillicXml(): string {
  const records = eachQuote(
    (_, code, rate) =>
      `<Valute ID="R0${1_000 + CODES.indexOf(code)}"><NumCode>036</NumCode><CharCode>${code}</CharCode><Nominal>1</Nominal>` +
      `<Name>Название валюты</Name><Value>${rate.replace('.', ',')}</Value></Valute>`,
  )
  return `${XML}<ValCurs Date="20.11.2026" name="Foreign Currency Market">${records}</ValCurs>`
}

function xmlTags(): Reader {
  const cubes = DAYS.map((day, row) => {
    const rates = CODES.map(
      (code, column) => `<Cube currency="${code}" rate="${rateOf(row, column)}"/>`,
    )
    return `<Cube time="${day}">${rates.join('')}</Cube>`
  })
  const text = `${XML}<gesmes:Envelope><Cube>${cubes.join('')}</Cube></gesmes:Envelope>`
  return {
    name: 'the tags of XML with attributes',
    minimum: '`matchAll`, `Number`',
    ours: () => {
      const values: Extracted = []
      let day = ''
      for (const { kind, attributes } of readXmlTags(text)) {
        day = attributes.get('time') ?? day
        if (kind !== 'empty') continue
        values.push(day, attributes.get('currency') ?? '', Number(attributes.get('rate')))
      }
      return values
    },
    least: () =>
      matchDays(text, /<Cube time="([^"]*)">|<Cube currency="([^"]*)" rate="([^"]*)"\/>/g),
  }
}

function json(): Reader {
  const text = JSON.stringify({
    rates: DAYS.flatMap((day, row) =>
      CODES.map((code, column) => ({ day, code, rate: rateOf(row, column) })),
    ),
  })
  const extract = (rows: readonly unknown[]): Extracted =>
    rows.flatMap((row) => {
      const { day, code, rate } = Object(row)
      return [day, code, Number(rate)]
    })
  return {
    name: 'JSON with an object for each rate',
    minimum: '`JSON.parse`, `Number`',
    ours: () => extract(parseRows(text, (body) => Object(body).rates)),
    least: () => extract(JSON.parse(text).rates),
  }
}

/** Compares the read of a body in windows-1251 with `TextDecoder` of the same bytes. */
async function legacyBody(): Promise<Comparison> {
  const text = cyrillicXml()
  // In windows-1251, the letters from А to я follow each other from 0xC0 on.
  const bytes = Uint8Array.from(text, (letter) => {
    const point = letter.codePointAt(0) ?? 0
    return point < 0x80 ? point : point - 0x410 + 0xc0
  })
  const { signal } = new AbortController()
  const request = {
    fetch: async () => new Response(bytes),
    url: 'https://bank.example/rates.xml',
    signal,
    now: () => 0,
    maxBytes: 4 * 1024 * 1024,
    redirectHosts: [],
    encoding: 'windows-1251',
  }
  const ours = async (): Promise<string> => (await readText(request, 'text/xml')).body
  const least = (): string => new TextDecoder('windows-1251').decode(bytes)
  deepEqual([await ours(), least()], [text, text])
  return {
    name: `reading a body in windows-1251: ${bytes.length.toLocaleString('en')} bytes`,
    ours,
    reference: { name: '`TextDecoder`', run: least },
    goal: GOAL,
    measures: 'cpu-time',
  }
}
