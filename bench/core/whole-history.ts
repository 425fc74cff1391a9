import { createEcbProvider } from 'ratesmith/providers/ecb'

import { runAtOnce } from '../../src/async.ts'
import { readEcbCsv } from '../../src/providers/ecb/files.ts'
import { toDay } from '../../src/rates/dates.ts'
import { pairSeries } from '../../src/rates/series.ts'
import { validateHistory } from '../../src/rates/validate.ts'
import { ecbDays, historyCsv, historyZip } from '../../test/fixtures/ecb-files.ts'
import type { Comparison } from './comparison.ts'
import { bytesOf } from './download.ts'
import type { Download } from './download.ts'
import { NOW } from './responses.ts'

const RANGE = { start: '1999-01-04', end: toDay(NOW) }

/**
 * Compares turning the history of the central bank since 1999 (some 7,000 days of 41 currencies) into validated columns
 * with `JSON.parse` of the same days; and extracting all rates of a pair from these columns with `JSON.stringify` of
 * them.
 */
export async function wholeHistories(): Promise<
  [ofText: Download, ofArchive: Comparison, ofPair: Comparison]
> {
  const days = ecbDays(RANGE.start, RANGE.end, NOW)
  const archive = historyZip(days)
  // One contiguous text, like the content of an archive.
  const text = new TextDecoder().decode(new TextEncoder().encode(historyCsv(days)))
  const json = JSON.stringify({ base: 'EUR', days })
  const readText = () => validateHistory({ base: 'EUR', days: runAtOnce(readEcbCsv(text)) }, NOW)
  const provider = createEcbProvider()
  const { signal } = new AbortController()
  const context = { fetch: async () => new Response(archive), signal, now: () => NOW }
  const readArchive = async () => validateHistory(await provider.fetchHistory(RANGE, context), NOW)
  const { data, dropped } = readText()
  if (dropped.length > 0) throw new Error(`dropped ${dropped.join(', ')}`)
  const reference = {
    name: `\`JSON.parse\` of ${json.length.toLocaleString('en')} characters`,
    run: (): unknown => JSON.parse(json),
  }
  const points = days.map(({ date, rates }) => ({ date, rate: rates['USD'] }))
  return [
    {
      name: 'CSV since 1999, parsed into columns',
      ours: readText,
      reference,
      goal: 3,
      keptBytes: bytesOf(data),
    },
    { name: 'the same, including its archive', ours: readArchive, reference },
    {
      name: 'a pair without EUR since 1999, from columns',
      ours: () => pairSeries(data, { from: 'USD', to: 'JPY' }, RANGE),
      reference: { name: '`JSON.stringify` of as many points', run: () => JSON.stringify(points) },
    },
  ]
}
