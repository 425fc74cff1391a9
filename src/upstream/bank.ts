import { assertKnownOptions, assertOneOf } from '../known-options.ts'
import { DAYS_BACK, createCalendar, daysFrom } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import { DAY_MS, addDays, newestPublishedDay, nextPublication, toDay } from '../rates/dates.ts'
import type { DaySpan } from '../rates/dates.ts'
import { RejectedError } from '../rates/validate.ts'
import { fetchDays } from './bank-days.ts'
import type { Bank } from './bank-days.ts'
import { checkTable, requireKey, requireKeylessRootUrl, requireRootUrl } from './feed.ts'
import type {
  HistoryDay,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from './provider.ts'
import type { Side } from './published.ts'

/** Options of a bank's provider. */
export interface BankOptions {
  /** Root of the service, to which the paths of its requests are appended (default the bank's own). */
  url?: string | undefined
}

/** Options of the provider of a bank that needs a key. */
export interface KeyedBankOptions extends BankOptions {
  /** Key of your account; sent only to the service, in a header or, if it accepts no other, in the query. */
  key: string
}

/** Option of the provider of a bank that publishes buying and selling prices. */
export interface SideOptions {
  /** The published prices, or the middle of both (default `middle`). Each has its own attribution and `id`. */
  side?: Side | undefined
}

/**
 * Creates the provider of a bank.
 *
 * @throws {TypeError} if an option is unknown, or `key` or `url` is invalid
 */
export interface BankFactory<
  Provider = LatestProvider & HistoryProvider,
  Parameters extends unknown[] = [options?: BankOptions],
> {
  (...parameters: Parameters): Provider
  /** @internal What the bank publishes, for the documentation. */
  readonly bank: Bank
}

type Both = LatestProvider & HistoryProvider

/** Creates the provider of a bank that needs a key. */
export type KeyedBankFactory = BankFactory<Both, [options: KeyedBankOptions]>

/** Creates the provider of a bank that publishes buying and selling prices. */
export type SidedBankFactory = BankFactory<Both, [options?: BankOptions & SideOptions]>
export type KeyedSidedBankFactory = BankFactory<Both, [options: KeyedBankOptions & SideOptions]>

const SIDES = ['buying', 'selling', 'middle']
const MIDDLE = 'middle of buying and selling'

/** Tables of single days that are requested to find the newest. */
const MAX_TABLES_SEARCHED = 5

/** Returns the factory of the providers of a bank. */
export function bank(data: Bank & { keyIn: string; hasSides: true }): KeyedSidedBankFactory
export function bank(data: Bank & { hasSides: true }): SidedBankFactory
export function bank(data: Bank & { latest: false }): BankFactory<HistoryProvider>
export function bank(data: Bank & { keyIn: string }): KeyedBankFactory
export function bank(data: Bank): BankFactory
/* @__NO_SIDE_EFFECTS__ */
export function bank(data: Bank): unknown {
  const { holidays = '', lagDays, ...others } = data.publication
  const publication: Publication = {
    frequency: 'daily',
    ...others,
    holidays: holidays === '' ? [] : holidays.split(', '),
    ...(lagDays !== undefined && { lag: lagDays * DAY_MS }),
  }
  const create = (options: object = {}): HistoryProvider => {
    const history = createHistory(data, publication, options)
    return data.latest === false ? history : withLatest(data, publication, history)
  }
  return Object.assign(create, { bank: data })
}

function withLatest(
  { base, minCodes, maxDays, mayLackRates }: Bank,
  publication: Publication,
  history: HistoryProvider,
): LatestProvider & HistoryProvider {
  const calendar = createCalendar(publication)
  const { frequency } = publication
  const check: LatestProvider['validateStored'] = (table, previous, references) =>
    checkTable(table, previous, references, { minCodes, frequency, mayLackRates })

  async function newestDay(context: ProviderContext): Promise<HistoryDay> {
    const due = newestPublishedDay(context.now(), calendar)
    const today = toDay(context.now())
    const searched = DAYS_BACK[publication.frequency]
    const tables = daysFrom(addDays(due, -searched), due).filter(calendar.isPublished)
    const spans: DaySpan[] =
      maxDays === 1
        ? tables.slice(-MAX_TABLES_SEARCHED).map((day) => ({ start: day, end: day }))
        : [{ start: addDays(due, -searched), end: due > today ? due : today }]
    for (const span of spans.toReversed()) {
      const { days } = await history.fetchHistory(span, context)
      const newest = days.at(-1)
      if (newest) return newest
    }
    throw new RejectedError(`no table up to ${due}`)
  }

  return {
    ...history,
    async fetchLatest(context) {
      const { date, rates, prices = {}, tableNumber } = await newestDay(context)
      const due = calendar.publishedAt(date)
      const next = nextPublication(due, calendar)
      const now = context.now()
      const inverses = Object.entries(prices).map(([code, price]) => [code, 1 / price])
      const table: LatestTable = {
        base,
        // Banks sometimes publish some minutes early.
        updatedAt: Math.min(due, now),
        nextUpdateAt: next,
        lateAt: next + (publication.lag ?? DAY_MS),
        rates: { [base]: 1, ...rates, ...Object.fromEntries(inverses) },
        ...(Object.keys(prices).length > 0 && { prices }),
        ...(tableNumber !== undefined && { tableNumber }),
      }
      return check(table, context.previous, context.references)
    },
    validateStored: check,
  }
}

function createHistory(
  data: Bank,
  whole: Publication,
  options: Partial<KeyedBankOptions & SideOptions>,
): HistoryProvider {
  const { page, terms, keyIn, hasSides, maxDays = Infinity } = data
  const { url = data.root, side = 'middle' } = options
  const known = { ...(keyIn !== undefined && { key: true }), ...(hasSides && { side }), url }
  assertKnownOptions<object>(options, known)
  assertOneOf('side', side, SIDES)
  const name = data.name.replace(MIDDLE, side === 'middle' ? MIDDLE : side)
  const publication = { ...whole, id: side === 'middle' ? whole.id : `${whole.id}-${side}` }
  const key = keyIn === undefined ? '' : requireKey(options.key ?? '')
  const root = key === '' ? requireRootUrl(url) : requireKeylessRootUrl(url, key)
  const [redirectHost, calendar] = [new URL(data.root).host, createCalendar(publication)]
  const open = { ...data, publication, root, key, redirectHost, calendar, side }
  return {
    attribution: { name, url: page },
    ...(terms !== undefined && { terms }),
    sanityChecks: data.mayLackRates ? 'rates' : true,
    publication,
    ...(maxDays !== Infinity && { maxDays }),
    fetchHistory: async (range, context) => fetchDays(open, range, context),
    ...(data.series && {
      fetchSeries: async ({ code, ...range }, context) => fetchDays(open, range, context, code),
    }),
  }
}
