import { invalidParameter } from '../errors.ts'

/** The names that mean something here or in other services, in lower case without `_` and `-`. */
export interface MistakenNames {
  /** What to do about each name. */
  readonly advice: Readonly<Record<string, string>>
  /** The names that the advice says to use, which are not mistaken. */
  readonly own: ReadonlySet<string>
}

/** What parameters are about, here or in other services. */
type Subject = keyof typeof NAMES

/**
 * The names of parameters of this API, of Frankfurter, exchangerate.host, Open Exchange Rates, currencyapi and others, in
 * lower case without `_` and `-`, by what they are about.
 */
const NAMES = {
  base: 'base from source basecurrency fromcurrency',
  targets: 'to symbols symbol currencies currency quotes quote target targets tocurrency',
  amount: 'amount value',
  date: 'date',
  start: 'start startdate startat fromdate datefrom datetimestart',
  end: 'end enddate endat todate dateto datetimeend',
  period: 'period timeframe',
  interval: 'interval group',
  reverse: 'reverse',
  format: 'format',
  rounding: 'places round rounding precision decimals accuracy',
  providers: 'provider providers',
  extras: 'showalternative showbidask showinactive',
} as const

/** What to do about names that no endpoint has a parameter for. */
const NOWHERE = {
  rounding: 'rates and results are exact; round them for display',
  providers: 'each record names its source',
  extras: 'only mid-market rates of currencies in use',
} as const

/**
 * Returns what to do about each name that an endpoint knows under another name or cannot answer: `advice` by subject, and
 * what no endpoint has.
 */
function mistakenNames(
  advice: Readonly<Record<Exclude<Subject, keyof typeof NOWHERE>, string>>,
): MistakenNames {
  const all: Readonly<Record<string, string>> = { ...advice, ...NOWHERE }
  const named = Object.entries<string>(NAMES).flatMap(([subject, names]) =>
    names.split(' ').map((name) => [name, all[subject] ?? ''] as const),
  )
  const own = named.filter(([name, use]) => use === `use ${name}`).map(([name]) => name)
  return { advice: Object.fromEntries(named), own: new Set(own) }
}

const HISTORY = 'use /v1/history'

/** Names that mean something else for a table, or nothing. */
export const NOT_OF_TABLES: MistakenNames = mistakenNames({
  base: 'use base',
  targets: 'use symbols',
  amount: 'use /v1/convert',
  date: 'use date',
  start: HISTORY,
  end: HISTORY,
  period: HISTORY,
  interval: HISTORY,
  reverse: 'use /v1/convert',
  format: 'use format',
})

/** The same for a table that has every currency: a list of some changes nothing. */
export const NOT_OF_WHOLE_TABLES: MistakenNames = {
  ...NOT_OF_TABLES,
  advice: Object.fromEntries(
    Object.entries(NOT_OF_TABLES.advice).filter(
      ([name]) => !NAMES.targets.split(' ').includes(name),
    ),
  ),
}

/** The same for a conversion. */
export const NOT_OF_CONVERSIONS: MistakenNames = mistakenNames({
  base: 'use from',
  targets: 'use to',
  amount: 'use amount',
  date: 'use date',
  start: HISTORY,
  end: HISTORY,
  period: HISTORY,
  interval: HISTORY,
  reverse: 'use reverse',
  format: 'use format',
})

/** The same for a history. */
export const NOT_OF_HISTORY: MistakenNames = mistakenNames({
  base: 'use from',
  targets: 'use to',
  amount: 'use /v1/convert with a date',
  date: 'use start and end',
  start: 'use start',
  end: 'use end',
  period: 'use period',
  interval: 'use interval',
  reverse: 'use /v1/convert',
  format: 'use format',
})

/**
 * Refuses properties of `question` that have one of these names, but not its own.
 *
 * @throws {RatesError} `invalid_parameter`
 */
export function assertNoMistakenNames(question: object, { advice, own }: MistakenNames): void {
  for (const name in question) {
    if (own.has(name)) continue
    const meant = name.toLowerCase().replace(/[_-]/g, '')
    if (Object.hasOwn(advice, meant)) throw invalidParameter(name, String(advice[meant]))
  }
}
