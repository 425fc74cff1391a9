import { readFileSync } from 'node:fs'

import { DOMParser } from '@xmldom/xmldom'
import { unzipSync } from 'fflate'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryDay, HistoryProvider, ProviderContext } from '../../src/index.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/index.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import { expectSameDays } from './days.ts'

function recorded(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(recording(`data/ecb/${name}`)))
}

const textOf = (name: string): string => new TextDecoder().decode(recorded(name))

const CSV = 'eurofxref-hist.csv'
const ZIP = 'eurofxref-hist.zip'
const DAILY = 'eurofxref-daily-2025-04-03.xml'
const SHORT = 'eurofxref-hist-90d-2025-04-04.xml'
const API = 'sdmx-exr-csvdata-2026-02-17_2026-03-18.vcr.yml'

function independentCsv(): HistoryDay[] {
  const options = { header: true, skipEmptyLines: true }
  const { data } = Papa.parse<Record<string, string>>(textOf(CSV), options)
  return data.toReversed().map(({ Date: date = '', ...cells }) => {
    const quoted = Object.entries(cells).filter(([code, text]) => code !== '' && text !== 'N/A')
    return { date, rates: Object.fromEntries(quoted.map(([code, text]) => [code, Number(text)])) }
  })
}

function independentXml(text: string): HistoryDay[] {
  const cubes = [...new DOMParser().parseFromString(text, 'text/xml').getElementsByTagName('Cube')]
  const days = cubes.filter((cube) => cube.hasAttribute('time'))
  return days.toReversed().map((day) => {
    const quoted = [...day.getElementsByTagName('Cube')]
    const rates = quoted.map((cube) => [
      cube.getAttribute('currency'),
      Number(cube.getAttribute('rate')),
    ])
    return { date: day.getAttribute('time') ?? '', rates: Object.fromEntries(rates) }
  })
}

/** Extracts the body from a recorded exchange: a block of YAML with the indent of its first line. */
function recordedBody(): string {
  const [, block = ''] = /^ +string: \|\n((?: +.*\n)+?)(?= {2,6}\w)/m.exec(textOf(API)) ?? []
  const [indent = ''] = /^ +/.exec(block) ?? []
  return block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

/** Returns the rates of the history for the days and currencies of `days`. */
function inHistory(days: readonly HistoryDay[]): HistoryDay[] {
  const history = new Map(independentCsv().map(({ date, rates }) => [date, rates]))
  return days.map(({ date, rates }) => {
    const same = Object.keys(rates).map((code) => [code, history.get(date)?.[code]])
    return { date, rates: Object.fromEntries(same) }
  })
}

async function fetchRecorded(input: RequestInfo | URL): Promise<Response> {
  const { host, pathname } = new URL(input instanceof Request ? input.url : input)
  if (host === 'data-api.ecb.europa.eu') return new Response(recordedBody())
  if (pathname.endsWith('.zip')) return new Response(recorded(ZIP))
  return new Response(recorded(pathname.endsWith('-90d.xml') ? SHORT : DAILY))
}

/** Creates the context of a call on the evening of `day`. */
function contextOn(day: string): ProviderContext {
  const { signal } = new AbortController()
  return { fetch: fetchRecorded, signal, now: () => Date.parse(`${day}T18:00:00Z`) }
}

const SINCE_1999 = { start: '1999-01-01', end: '2026-04-13' }

describe.skipIf(!HAS_RECORDINGS)(`a recorded response of the bank ${NEEDS_RECORDINGS}`, () => {
  it('is read from the archive as other programs do, to the digit', async () => {
    expect(unzipSync(recorded(ZIP))[CSV]).toEqual(recorded(CSV))
    const { days } = await createEcbProvider().fetchHistory(SINCE_1999, contextOn('2026-04-13'))
    expect(days).toHaveLength(6_983)
    expectSameDays(days, independentCsv())
    expect(new Set(days.flatMap(({ rates }) => Object.keys(rates))).size).toBe(41)
  })

  it('is read from the XML of 90 days as another program does, and equal to the CSV', async () => {
    const expected = independentXml(textOf(SHORT))
    const range = { start: expected[0]?.date ?? '', end: '2025-04-04' }
    // With a slow clock, the range has 80 days.
    const { days } = await createEcbProvider().fetchHistory(range, contextOn('2025-03-25'))
    expect(days).toHaveLength(65)
    expect(days).toEqual(expected)
    expect(days).toEqual(inHistory(days))
  })

  it('is read from the XML of a day as another program does, and equal to the CSV', async () => {
    const table = await createEcbProvider().fetchLatest(contextOn('2025-04-03'))
    expect(table).toMatchObject({ base: 'EUR', rates: { EUR: 1, USD: 1.1097, HUF: 401.58 } })
    const days = independentXml(textOf(DAILY))
    expect(days).toEqual([{ date: '2025-04-03', rates: expect.any(Object) }])
    expect(table.rates).toEqual({ EUR: 1, ...days[0]?.rates })
    expect(days).toEqual(inHistory(days))
  })

  it('is read from the data API, equal to the CSV', async () => {
    const range = { start: '2026-02-17', end: '2026-03-18' }
    const context = contextOn('2026-03-18')
    const { days } = await createEcbDataApiProvider().fetchHistory(range, context)
    expect(days).toHaveLength(22)
    expect(days.at(-1)?.date).toBe('2026-03-18')
    expect(Object.keys(days.at(-1)?.rates ?? {})).toHaveLength(29)
    expect(days).toEqual(inHistory(days))
    const { updatedAt, rates } = await createEcbDataApiProvider().fetchLatest(context)
    expect(updatedAt).toBe(Date.UTC(2026, 2, 18, 15))
    expect(rates).toEqual({ EUR: 1, ...days.at(-1)?.rates })
  })

  it('is a history since 1999 without rates that the handler drops', async () => {
    // No request times out while another thread unpacks the archive.
    const runtime = virtualRuntime(Date.parse('2026-04-13T18:00:00Z'))
    const providers = { latest: false, history: createEcbProvider() } as const
    const { handler, events } = recordedHandler(runtime, { providers, fetch: fetchRecorded })
    const range = { from: 'EUR', to: 'USD', start: '1999-01-04', end: '2026-04-13' } as const
    expect((await handler.rates.history(range)).points).toHaveLength(6_983)
    const types = new Set(events.map(({ type }) => type))
    expect([...types].filter((type) => /response|dropped|quarantined/.test(type))).toEqual([
      'upstream_response',
    ])
  })

  it('has four rates that are quarantined until the next day when published day by day in crises', async () => {
    const crises = ['2008-10-06 ISK', '2008-10-08 ISK', '2008-11-06 ISK', '2021-12-21 TRY']
    const waiting = new Set<string>()
    let lost = 0
    for (const month of [/^2008-(09|1)/, /^2021-(11|12)/]) {
      const days = independentCsv().filter(({ date }) => month.test(date))
      let count = 8
      const history: HistoryProvider = {
        ...createEcbProvider(),
        fetchHistory: async ({ start }) => ({
          base: 'EUR',
          days: days.slice(0, count).filter(({ date }) => count === 8 || date >= start),
        }),
      }
      const handler = createRatesHandler({
        providers: { latest: false, history },
        now: () => Date.parse(`${days[count - 1]?.date}T17:00Z`),
        onEvent(event) {
          if (event.type === 'rates_quarantined') for (const code of event.codes) waiting.add(code)
        },
      })
      for (; count <= days.length; count += 1) {
        await handler.refresh()
        const { date = '', rates = {} } = days[count - 2] ?? {}
        const served = await handler.rates.latest({ base: 'EUR', date })
        // The base is among those served.
        lost += Object.keys(rates).length + 1 - Object.keys(served.rates).length
      }
    }
    expect([[...waiting], lost]).toEqual([crises, 0])
  })
})
