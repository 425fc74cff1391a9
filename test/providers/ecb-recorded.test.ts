import { existsSync, readFileSync } from 'node:fs'

import { DOMParser } from '@xmldom/xmldom'
import { unzipSync } from 'fflate'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import { readEcbCsv } from '../../src/providers/ecb-csv.ts'
import { readEcbXml } from '../../src/providers/ecb-xml.ts'
import { readExrCsv } from '../../src/providers/exr-csv.ts'
import type { HistoryDay, ProviderContext } from '../../src/providers/provider.ts'
import { readZipMember } from '../../src/providers/zip.ts'
import { acceptHistory } from '../../src/rates/accept.ts'

const FOLDER = new URL('../../../shared/data/ecb/', import.meta.url)

const NAMES = {
  csv: 'eurofxref-hist.csv',
  zip: 'eurofxref-hist.zip',
  daily: 'eurofxref-daily-2025-04-03.xml',
  short: 'eurofxref-hist-90d-2025-04-04.xml',
  api: 'sdmx-exr-csvdata-2026-02-17_2026-03-18.vcr.yml',
}

function recorded(name: keyof typeof NAMES): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(NAMES[name], FOLDER)))
}

function textOf(name: keyof typeof NAMES): string {
  return new TextDecoder().decode(recorded(name))
}

/** The history as another program reads it. */
function independentCsv(): HistoryDay[] {
  const { data } = Papa.parse<Record<string, string>>(textOf('csv'), {
    header: true,
    skipEmptyLines: true,
  })
  return data.toReversed().map(({ Date: date = '', ...cells }) => {
    const quoted = Object.entries(cells).filter(([code, text]) => code !== '' && text !== 'N/A')
    return { date, rates: Object.fromEntries(quoted.map(([code, text]) => [code, Number(text)])) }
  })
}

/** The days of an XML as another program reads it. */
function independentXml(text: string): HistoryDay[] {
  const cubes = [...new DOMParser().parseFromString(text, 'text/xml').getElementsByTagName('Cube')]
  const days = cubes.filter((cube) => cube.hasAttribute('time'))
  return days.toReversed().map((day) => {
    const rates = [...day.getElementsByTagName('Cube')].map((cube) => [
      cube.getAttribute('currency'),
      Number(cube.getAttribute('rate')),
    ])
    return { date: day.getAttribute('time') ?? '', rates: Object.fromEntries(rates) }
  })
}

/** The body in the recording of an exchange: a block of YAML, whose indent is the first line's. */
function recordedBody(): string {
  const [, block = ''] = /^ +string: \|\n((?: +.*\n)+?)(?= {2,6}\w)/m.exec(textOf('api')) ?? []
  const [indent = ''] = /^ +/.exec(block) ?? []
  return block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

/** What the history has of `days`, of the currencies that each has. */
function inHistory(days: readonly HistoryDay[]): HistoryDay[] {
  const history = new Map(independentCsv().map(({ date, rates }) => [date, rates]))
  return days.map(({ date, rates }) => {
    const same = Object.keys(rates).map((code) => [code, history.get(date)?.[code]])
    return { date, rates: Object.fromEntries(same) }
  })
}

/** A context at `now` in which every request is answered with `body`. */
function answering(body: BodyInit, now: number): ProviderContext {
  const { signal } = new AbortController()
  return { fetch: async () => new Response(body), signal, now: () => now }
}

describe.skipIf(!existsSync(FOLDER))(
  'what the bank has answered (internal, skipped where ../shared/data is missing)',
  () => {
    it('in its CSV is what another program reads, to the digit', () => {
      const days = readEcbCsv(textOf('csv'))
      expect(days).toHaveLength(6_983)
      expect(days).toEqual(independentCsv())
    })

    it('in its archive is what another program unpacks', async () => {
      const { signal } = new AbortController()
      const member = { name: 'eurofxref-hist.csv', maxBytes: 4_000_000, signal }
      const bytes = await readZipMember(recorded('zip'), member)
      expect(bytes).toEqual(unzipSync(recorded('zip'))['eurofxref-hist.csv'])
      expect(bytes).toEqual(recorded('csv'))
    })

    it('in its XML is what another program reads, and what its CSV has', () => {
      for (const [name, count] of [
        ['short', 65],
        ['daily', 1],
      ] as const) {
        const days = readEcbXml(textOf(name))
        expect(days).toHaveLength(count)
        expect(days).toEqual(independentXml(textOf(name)))
        expect(days).toEqual(inHistory(days))
      }
    })

    it('from its data API is what its CSV has', () => {
      const days = readExrCsv(recordedBody())
      expect(days.map(({ date }) => date)).toHaveLength(22)
      expect(days.at(-1)?.date).toBe('2026-03-18')
      expect(Object.keys(days.at(-1)?.rates ?? {})).toHaveLength(29)
      expect(days).toEqual(inHistory(days))
    })

    it('is a history since 1999 in which nothing is dropped', async () => {
      const now = Date.UTC(2026, 3, 13, 18)
      const range = { start: '1999-01-01', end: '2026-04-13' }
      const context = answering(recorded('zip'), now)
      const history = await createEcbProvider().fetchHistory(range, context)
      const { data, dropped } = acceptHistory(history, now)
      expect(dropped).toEqual([])
      expect(data.dates).toHaveLength(6_983)
      expect(data.columns.size).toBe(41)
    })

    it('is a table of latest rates', async () => {
      const now = Date.UTC(2025, 3, 3, 18)
      const ofFile = await createEcbProvider().fetchLatest(answering(recorded('daily'), now))
      expect(ofFile).toMatchObject({ base: 'EUR', rates: { EUR: 1, USD: 1.1097, HUF: 401.58 } })
      const later = Date.UTC(2026, 2, 18, 18)
      const ofApi = await createEcbDataApiProvider().fetchLatest(answering(recordedBody(), later))
      expect(ofApi.updatedAt).toBe(Date.UTC(2026, 2, 18, 15))
      expect(Object.keys(ofApi.rates)).toHaveLength(30)
    })
  },
)
