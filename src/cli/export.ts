import { DAY_FORMS } from '../api/days.ts'
import type { RatesDay } from '../api/days.ts'
import { isDay, providerUnavailable } from '../core.ts'
import { isRatesError } from '../errors.ts'
import type { CurrencyList, Rates, SourceList } from '../index.ts'
import { FIRST_REFERENCE_DAY } from '../rates/dates.ts'
import type { CommandContext } from './context.ts'
import { spellOut } from './days.ts'
import { openExportFolder } from './export-folder.ts'
import type { ExportFolder } from './export-folder.ts'
import { EXPORT_OPTIONS } from './flags.ts'
import { openOutput } from './output.ts'
import { rightOf } from './provider-table.ts'
import { loadProviders } from './providers.ts'
import { openSession } from './session.ts'
import type { RatesSession } from './session.ts'
import { withSpinner } from './terminal.ts'
import { chooseProviders } from './upstreams.ts'
import { UsageError, parseArguments, parseNames } from './usage.ts'

type Values = ReturnType<typeof parseArguments<{ options: typeof EXPORT_OPTIONS }>>['values']

const FORMS = ['ndjson', 'csv'] as const

/** Resolves as `loading` does; rejects with one sentence that names what is missing. */
type Load = <Result>(what: string, loading: Promise<Result>) => Promise<Result>

/** Writes all rates to files in a folder; a reader of the folder finds all of them at every moment. */
export async function exportRates(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals } = parseArguments({
    args,
    options: EXPORT_OPTIONS,
    allowPositionals: true as const,
  })
  const [path = '', ...others] = positionals
  if (path === '' || others.length > 0)
    throw new UsageError(`export takes one folder, got ${positionals.join(' ') || 'none'}`)
  const { since, quiet, json } = values
  if (since !== undefined && !(isDay(since) && since >= FIRST_REFERENCE_DAY)) {
    const form = 'YYYY-MM-DD, or a word such as yesterday'
    throw new UsageError(`--since must be ${form}, from ${FIRST_REFERENCE_DAY} on, got ${since}`)
  }
  // The terms of the usual default forbid passing rates on.
  const isChosen = values.demo || values.latest !== undefined || context.env['RATESMITH_LATEST']
  const flags = isChosen ? values : { ...values, latest: 'ecb' }
  const terms = await checkTerms(flags, context)
  const { print, note } = openOutput(context)
  const session = await openSession(flags, context)
  try {
    const folder = await openExportFolder(path)
    let overdue: string | undefined
    const load = createLoad(session, () => (overdue ??= session.whyOverdue('overdue rates')))
    const work = write(folder, session, load, since).finally(folder.close)
    const { years, changed, sha256 } = await (quiet
      ? work
      : withSpinner(context, 'exporting', work))
    for (const each of quiet ? [] : [terms, overdue]) if (each) note(`ratesmith: ${each}`)
    const counts = `${counted(years, 'year')}, ${counted(changed, 'file')} changed`
    const line = `${counts}, index.json ${sha256.slice(0, 8)}`
    print([json ? JSON.stringify({ years, changed, sha256 }) : line])
    return 0
  } finally {
    session.close()
  }
}

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/**
 * Returns a note on what the providers require of those who pass rates on; empty if they require nothing.
 *
 * @throws {UsageError} naming the providers whose terms forbid it, unless they are allowed
 */
async function checkTerms(flags: Values, { env }: CommandContext): Promise<string> {
  const { demo, allow } = flags
  const known = allow ? (await loadProviders()).map(({ name }) => name) : []
  const allowed = allow ? parseNames('--allow', allow.join(','), known) : []
  if (demo) return ''
  const { latest, history } = await chooseProviders(flags, env)
  const names = [...new Set([...latest, ...history].map(({ name }) => name))]
  const refused = names.filter((name) => rightOf(name) === 'no' && !allowed.includes(name))
  if (refused.length > 0) {
    const list = refused.join(',')
    const way = `choose others with --latest and --history, or, if you may, --allow ${list}`
    throw new UsageError(`the terms of ${list} forbid passing rates on: ${way}`)
  }
  const rights = names.filter((name) => rightOf(name) !== 'yes')
  const list = rights.map((name) => `${name} ${rightOf(name)}`).join(', ')
  return list && `may be passed on: ${list}; see docs/choose-your-rates.md before you publish`
}

function createLoad(session: RatesSession, onLoad: () => void): Load {
  return async (what, loading) => {
    try {
      const found = await loading
      onLoad()
      return found
    } catch (error) {
      if (!isRatesError(error) || error.code !== 'provider_unavailable') throw error
      const details = [session.failures(), 'run ratesmith doctor for advice'].filter(Boolean)
      throw new Error(`${what} could not be loaded (${details.join('; ')})`, { cause: error })
    }
  }
}

async function write(
  folder: ExportFolder,
  { get, rates }: RatesSession,
  load: Load,
  requested: string | undefined,
) {
  const latest = await load('latest rates', get(latestTable))
  const { sources } = await load('the newest days', get(wholeSources))
  const [oldest = ''] = sources.map(({ from }) => from).toSorted()
  const newest = sources.flatMap(({ lastDay }) => lastDay ?? []).reduce(later, '')
  const since = requested ?? oldest
  if (since > newest) throw new UsageError(`--since must not be after ${newest}, got ${since}`)
  await folder.add('latest', 'json', JSON.stringify(latest))
  const described = sources.map(({ lastDay: _lastDay, late: _late, ...source }) => source)
  await folder.add('sources', 'json', JSON.stringify({ sources: described }))
  const first = Number(since.slice(0, 4))
  const last = Number(newest.slice(0, 4))
  for (let year = first; year <= last; year += 1) {
    const start = year === first ? since : `${year}-01-01`
    const end = year === last ? newest : `${year}-12-31`
    // Waits for upstreams itself.
    const days = textsOf(await load(`rates of ${year}`, daysOf(rates, sources, { start, end })))
    for (const form of FORMS) await folder.add(`days/${year}`, form, days[form])
  }
  // With the coverage of all sources, which the days have loaded.
  await folder.add(
    'currencies',
    'json',
    JSON.stringify(await load('currencies', get(wholeCurrencies))),
  )
  return { years: last - first + 1, ...(await folder.publish(since)) }
}

function later(one: string, other: string): string {
  return one > other ? one : other
}

/** Returns the published table, without rates of an earlier publication: they must not look new. */
async function latestTable(rates: Rates): Promise<object> {
  const { base, updatedAt, older = {}, tableNumber, source, ...found } = await rates.snapshot()
  const table = await rates.latest({ base })
  // Refreshed in between.
  if (table.updatedAt !== updatedAt) throw providerUnavailable(1)
  const codes = Object.keys(table.rates).filter((code) => code !== base && !(code in older))
  const current = (part: Readonly<Record<string, unknown>> = {}): [string, unknown][] =>
    codes.filter((code) => code in part).map((code) => [code, part[code]])
  const numbers = (part?: Readonly<Record<string, string>>): object | undefined => {
    const kept = current(part).map(([code, text]) => [code, Number(text)])
    return kept.length > 0 ? Object.fromEntries(kept) : undefined
  }
  const derived = current(found.derived)
  return {
    base,
    updatedAt,
    nextUpdateAt: table.nextUpdateAt,
    rates: numbers(found.rates) ?? {},
    prices: numbers(found.prices),
    tableNumber,
    derived: derived.length > 0 ? Object.fromEntries(derived) : undefined,
    source: { name: source.name, url: source.url },
  }
}

/** @throws {RatesError} `provider_unavailable` while rates of a source are missing */
async function wholeSources(rates: Rates): Promise<SourceList> {
  const list = await rates.sources()
  if (list.sources.some(({ lastDay }) => lastDay === null)) throw providerUnavailable(1)
  return list
}

/** @throws {RatesError} `provider_unavailable` while coverage is unknown */
async function wholeCurrencies(rates: Rates): Promise<CurrencyList> {
  const list = await rates.currencies()
  const isUnknown = list.currencies.some(
    ({ latest, history }) => latest === null || history === null,
  )
  if (isUnknown) throw providerUnavailable(1)
  return list
}

/** Returns the days of all sources with all their rates: a reader of one of them needs also those that others have. */
async function daysOf(
  rates: Rates,
  sources: SourceList['sources'],
  range: { start: string; end: string },
): Promise<RatesDay[]> {
  const days: RatesDay[] = []
  for (const { id } of sources) {
    for await (const day of rates.days({ ...range, source: id })) {
      if (day.source === id) days.push(day)
    }
  }
  return days.toSorted((one, other) => (one.date < other.date ? -1 : Number(one.date > other.date)))
}

function textsOf(days: readonly RatesDay[]): Record<(typeof FORMS)[number], string> {
  const texts = { ndjson: DAY_FORMS.ndjson.head, csv: DAY_FORMS.csv.head }
  for (const day of days) for (const form of FORMS) texts[form] += DAY_FORMS[form].write(day)
  return { ...texts, csv: texts.csv.replaceAll('\r\n', '\n') }
}
