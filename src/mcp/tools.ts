import { code, text } from '../api/parameter-kinds.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { Operation } from '../api/parameters.ts'
import { invalidParameter, toDay } from '../core.ts'
import { adviceOnPart, findCurrencies } from '../currency-search.ts'
import type {
  ConversionParams,
  HistoryParams,
  LatestParams,
  LatestRates,
  RateHistory,
  RatesOperations,
} from '../index.ts'

/** A tool: an operation of `/api/v1`, with one target currency. */
export interface Tool {
  name: 'convert' | 'get_rates' | 'get_history' | 'find_currency' | 'get_status'
  title: string
  description: string
  operation: Operation
  /**
   * Returns the record of the operation for parameters that it accepts, and one line that names the source and the day.
   *
   * @throws {RatesError} as the operation does
   */
  run(rates: RatesOperations, params: object): Promise<{ record: object; line: string }>
}

/** A history with at most 60 points. */
interface ThinnedHistory extends RateHistory {
  /** Number of points that are left out; absent without any. `stats` are those of all. */
  omitted?: number
}

const MAX_POINTS = 60
const MAX_FOUND = 10
const MAX_LISTED = 12

const { expand: _expand, ...converted } = OPERATIONS.convert.parameters
const { change: _change, ...dated } = OPERATIONS.latest.parameters
const { fill: _fill, ...ranged } = OPERATIONS.history.parameters
const to = code('Target currency.', 'target quote tocurrency targetcurrency symbol symbols')
const query = text('Code, name, symbol, country or city, such as `$` or `Kenya`.')

export const TOOLS: readonly Tool[] = [
  {
    name: 'convert',
    title: 'Convert an amount',
    description: 'Converts an amount by the latest rate, or the reference rate of a day.',
    operation: withParameters(OPERATIONS.convert, { ...converted, to }),
    async run(rates, params: ConversionParams<string>) {
      const record = await rates.convert(params)
      const { amount, reverse, rate, result, rounded = result } = record
      const [paid, got] = reverse ? [rounded, amount] : [amount, rounded]
      const line = `${paid} ${record.from} = ${got} ${record.to} at ${rate} (${originOf(record)})`
      return { record, line }
    },
  },
  {
    name: 'get_rates',
    title: 'Get exchange rates',
    description: 'Returns the latest rates of a currency, or the reference rates of a day.',
    operation: withParameters(OPERATIONS.latest, dated),
    async run(rates, params: LatestParams) {
      const record = await rates.latest(params)
      const all = Object.entries(record.rates).map(([each, rate]) => `${rate} ${each}`)
      const more = all.length > MAX_LISTED ? ` and ${all.length - MAX_LISTED} more` : ''
      const shown = all.slice(0, MAX_LISTED).join(', ') + more
      return { record, line: `1 ${record.base} = ${shown} (${originOf(record)})` }
    },
  },
  {
    name: 'get_history',
    title: 'Get the history of a rate',
    description: `Returns reference rates over a time, at most ${MAX_POINTS}, and statistics of all.`,
    operation: withParameters(OPERATIONS.history, { ...ranged, to }),
    async run(rates, params: HistoryParams<string>) {
      const record = thinned(await rates.history(params))
      const { points, source } = record
      const { open, close, changePct, high, highDate, low, lowDate, average } = record.stats
      const ends = `${open} ${record.to} on ${points[0]?.d}, ${close} on ${points.at(-1)?.d}`
      const range = `high ${high} on ${highDate}, low ${low} on ${lowDate}, average ${average}`
      const line = `1 ${record.from} = ${ends} (${changePct} %); ${range} (${source.name})`
      return { record, line }
    },
  },
  {
    name: 'find_currency',
    title: 'Find a currency',
    description: `Finds up to ${MAX_FOUND} currencies; withdrawn ones have their successor.`,
    operation: withParameters({ path: '', parameters: {}, required: ['query'] }, { query }),
    async run(rates, params: { query: string }) {
      const advice = adviceOnPart(params.query)
      if (advice !== undefined) throw invalidParameter('query', advice)
      const { currencies: all } = await rates.currencies()
      const currencies = findCurrencies(all, params.query).slice(0, MAX_FOUND)
      const lines = currencies.map(({ code: each, name, withdrawn }) => {
        const end = withdrawn ? `, withdrawn on ${withdrawn.at}: use ${withdrawn.successor}` : ''
        return `${each} (${name ?? 'without a name'}${end})`
      })
      return { record: { currencies }, line: lines.join(', ') || 'No currency is known by that.' }
    },
  },
  {
    name: 'get_status',
    title: 'Get the state of the rates',
    description: 'Returns whether rates are loaded, how old they are, and their sources.',
    operation: withParameters(OPERATIONS.status, {}),
    async run(rates) {
      const record = await rates.status()
      const { latest, history } = record
      const newest = toDay(latest?.updatedAt ?? 0)
      const ofLatest = latest?.source && `latest rates of ${latest.source.name} of ${newest}`
      const ofDays = history?.source && `${history.source.name} to ${history.lastDay}`
      const all = [ofLatest, ofDays].filter(Boolean).join(', ') || 'no rates are loaded'
      return { record, line: latest?.stale || history?.stale ? `${all}, some overdue` : all }
    },
  },
]

/** Its advice names no endpoints and no forms of responses. */
function withParameters(operation: Operation, parameters: Operation['parameters']): Operation {
  return { ...operation, path: 'the tool', parameters, forms: {}, others: [] }
}

function originOf(record: Pick<LatestRates, 'date' | 'updatedAt' | 'source'>): string {
  return `${record.source.name}, ${record.date ?? toDay(record.updatedAt)}`
}

/** Keeps the first and the last point, and others at equal distances. */
function thinned(whole: RateHistory): ThinnedHistory {
  const { points } = whole
  const omitted = points.length - MAX_POINTS
  if (omitted <= 0) return whole
  const step = (points.length - 1) / (MAX_POINTS - 1)
  const kept = new Set(Array.from({ length: MAX_POINTS }, (_, at) => Math.round(at * step)))
  return { ...whole, points: points.filter((_, at) => kept.has(at)), omitted }
}
