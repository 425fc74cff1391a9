import { invalidParameter } from '../errors.ts'

/** Parameter names of this API and other services, in lower case without `_` and `-`. */
export interface MistakenNames {
  readonly advice: Readonly<Record<string, string>>
  readonly own: ReadonlySet<string>
}

type Subject = keyof typeof NAMES

/** By meaning, in lower case without `_` and `-`. */
const NAMES = {
  base: 'base from basecurrency fromcurrency',
  targets: 'to symbols symbol currencies currency quotes quote target targets tocurrency',
  amount: 'amount',
  value: 'value',
  date: 'date',
  rule: 'rule',
  maxAge: 'maxage',
  source: 'source',
  start: 'start startdate startat fromdate datefrom datetimestart',
  end: 'end enddate endat todate dateto datetimeend',
  period: 'period timeframe',
  interval: 'interval group',
  fill: 'fill',
  layout: 'layout',
  reverse: 'reverse',
  format: 'format',
  round: 'round',
  expand: 'expand',
  rounding: 'places rounding precision decimals accuracy',
  providers: 'provider providers',
  extras: 'showalternative showbidask showinactive',
} as const

const UNROUNDED = 'not supported; round rates and results for display'

const UNSUPPORTED = {
  providers: 'not supported; every response names its source',
  extras: 'not supported; rates are mid-market rates of currencies in use',
} as const

function mistakenNames(
  advice: Readonly<Record<Exclude<Subject, keyof typeof UNSUPPORTED>, string>>,
): MistakenNames {
  const all: Readonly<Record<string, string>> = { ...advice, ...UNSUPPORTED }
  const named = Object.entries<string>(NAMES).flatMap(([subject, names]) =>
    names.split(' ').map((name) => [name, all[subject] ?? ''] as const),
  )
  const own = named
    .filter(([name, use]) => use.toLowerCase() === `use ${name}`)
    .map(([, use]) => use.slice('use '.length))
  return { advice: Object.fromEntries(named), own: new Set(own) }
}

const HISTORY = 'use /v1/history'

export const MISTAKEN_TABLE_NAMES: MistakenNames = /* @__PURE__ */ mistakenNames({
  base: 'use base',
  targets: 'use symbols',
  amount: 'use /v1/convert',
  value: 'use /v1/convert',
  date: 'use date',
  rule: 'use rule',
  maxAge: 'use maxAge',
  source: 'use source',
  start: HISTORY,
  end: HISTORY,
  period: HISTORY,
  interval: HISTORY,
  fill: HISTORY,
  layout: HISTORY,
  reverse: 'use /v1/convert',
  round: UNROUNDED,
  expand: 'use /v1/convert',
  rounding: UNROUNDED,
  format: 'use format',
})

/** They ignore a list of symbols. */
export const MISTAKEN_WHOLE_TABLE_NAMES: MistakenNames =
  /* @__PURE__ */ withoutTargets(MISTAKEN_TABLE_NAMES)

function withoutTargets({ advice, own }: MistakenNames): MistakenNames {
  const targets: readonly string[] = NAMES.targets.split(' ')
  const others = Object.entries(advice).filter(([name]) => !targets.includes(name))
  return { advice: Object.fromEntries(others), own }
}

export const MISTAKEN_CONVERSION_NAMES: MistakenNames = /* @__PURE__ */ mistakenNames({
  base: 'use from',
  targets: 'use to',
  amount: 'use amount',
  value: 'use amount',
  date: 'use date',
  rule: 'use rule',
  maxAge: 'use maxAge',
  source: 'use source',
  start: HISTORY,
  end: HISTORY,
  period: HISTORY,
  interval: HISTORY,
  fill: HISTORY,
  layout: HISTORY,
  reverse: 'use reverse',
  round: 'use round',
  expand: 'use expand',
  rounding: 'use round',
  format: 'use format',
})

export const MISTAKEN_HISTORY_NAMES: MistakenNames = /* @__PURE__ */ mistakenNames({
  base: 'use from',
  targets: 'use to',
  amount: 'use /v1/convert with a date',
  value: 'use value',
  date: 'use start and end',
  rule: 'use /v1/convert with a date',
  maxAge: 'use /v1/convert with a date',
  source: 'use source',
  start: 'use start',
  end: 'use end',
  period: 'use period',
  interval: 'use interval',
  fill: 'use fill',
  layout: 'use layout',
  reverse: 'use /v1/convert',
  round: UNROUNDED,
  expand: 'use /v1/convert',
  rounding: UNROUNDED,
  format: 'use format',
})

/** Returns whether an endpoint reads or refuses parameters with `name`, in any spelling. */
export function isParameterName(name: string): boolean {
  const meant = toMeaning(name)
  return Object.values<string>(NAMES).some((names) => names.split(' ').includes(meant))
}

function toMeaning(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}

/** @throws {RatesError} `invalid_parameter` */
export function assertNoMistakenNames(params: object, { advice, own }: MistakenNames): void {
  for (const name in params) {
    if (own.has(name)) continue
    const meant = toMeaning(name)
    if (Object.hasOwn(advice, meant)) throw invalidParameter(name, String(advice[meant]))
  }
}
