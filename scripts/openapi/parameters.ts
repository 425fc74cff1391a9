import type { Rounding } from '../../src/api/convert.ts'
import { FILLS, LAYOUTS, MAX_HISTORIES } from '../../src/api/history.ts'
import { MAX_AGE_LIMIT, SOURCE_FORM } from '../../src/api/resolve-code.ts'
import { MAX_SYMBOLS, MAX_SYMBOLS_CHARACTERS } from '../../src/endpoints/parameters.ts'
import type { Format } from '../../src/endpoints/parameters.ts'
import { MAX_AMOUNT_CHARACTERS } from '../../src/rates/arithmetic.ts'
import { DATE_RULES, INTERVALS, PERIODS } from '../../src/rates/dates.ts'
import { INTERVAL_VALUES } from '../../src/rates/series.ts'

/** A parameter of a query. Tests compare what it allows with what the endpoints accept. */
interface Parameter {
  /** Default: the name of the component. */
  name?: string
  required?: true
  description: string
  schema: object
  /** For required parameters only: viewers fill in and send every example, even of parameters that exclude each other. */
  example?: string
}

/** Name of a parameter component. */
export type ParameterName = keyof typeof PARAMETERS

const CODE = '[A-Za-z]{3}'

const ANOTHER_CODE = `( *,[ ,]*${CODE})`

/** One code, or a list of at most `count`: one code with a comma before or after it, or several codes. */
function targetsPattern(count: number): string {
  const list = [
    CODE,
    ` *,[ ,]*${CODE}[ ,]*`,
    ` *${CODE} *,[ ,]*`,
    `[ ,]*${CODE}${ANOTHER_CODE}{1,${count - 1}}[ ,]*`,
  ]
  return `^(${list.join('|')})$`
}

const SYMBOLS = `[ ,]*(${CODE}${ANOTHER_CODE}{0,${MAX_SYMBOLS - 1}}[ ,]*)?`

const AMOUNT = '([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([eE][+-]?[0-9]+)?'

const CODE_SCHEMA = { type: 'string', pattern: `^${CODE}$` }
const DAY_SCHEMA = { format: 'date', type: 'string' }

/** All parameters by component name; `targets` is the `to` of `/v1/convert`, `historyTargets` that of `/v1/history`. */
const PARAMETERS = {
  base: {
    description: 'Base currency code, case-insensitive.',
    schema: { ...CODE_SCHEMA, default: 'USD' },
  },
  symbols: {
    description:
      'Comma-separated codes to include (`EUR,GBP`), at most 250; all codes by default. A withdrawn currency that the feed no longer carries is omitted.',
    schema: { pattern: `^${SYMBOLS}$`, maxLength: MAX_SYMBOLS_CHARACTERS, type: 'string' },
  },
  from: {
    required: true,
    description: 'Source currency code, case-insensitive.',
    schema: CODE_SCHEMA,
    example: 'USD',
  },
  to: {
    required: true,
    description: 'Target currency code, case-insensitive.',
    schema: CODE_SCHEMA,
    example: 'EUR',
  },
  targets: {
    name: 'to',
    required: true,
    description:
      'Target currency code, case-insensitive, or at most 250 codes separated by commas (`EUR,GBP`). With any comma, the response has `results`, even for one code.',
    schema: {
      pattern: targetsPattern(MAX_SYMBOLS),
      maxLength: MAX_SYMBOLS_CHARACTERS,
      type: 'string',
    },
    example: 'EUR',
  },
  historyTargets: {
    name: 'to',
    required: true,
    description:
      'Target currency code, case-insensitive, or at most 20 codes separated by commas (`EUR,GBP`). With any comma, the response has `series`, even for one code.',
    schema: {
      pattern: targetsPattern(MAX_HISTORIES),
      maxLength: MAX_SYMBOLS_CHARACTERS,
      type: 'string',
    },
    example: 'EUR',
  },
  amount: {
    description:
      'Amount of `from`, a plain decimal (`100`, `0.5`, `1e-7`). Beyond the pattern, the amount and the result must be finite doubles, and a non-zero amount must not underflow to 0.',
    // Generated clients can then pass a number or a string.
    schema: {
      anyOf: [
        { type: 'number', minimum: 0 },
        { type: 'string', pattern: `^${AMOUNT}$`, maxLength: MAX_AMOUNT_CHARACTERS },
      ],
      default: 1,
    },
  },
  reverse: {
    description:
      'If true, `amount` is in `to`, and `result` is the amount of `from` that converts to it, to 15 significant digits.',
    schema: { type: 'boolean', default: false },
  },
  round: {
    description:
      'Adds `rounded` to each result, a decimal with the digits of its currency: the exact result rounded half away from zero to the `minor` unit, or to the smallest amount in `cash`, such as 0.05 CHF. A currency without a minor unit is a 400.',
    schema: { type: 'string', enum: ['minor', 'cash'] satisfies Rounding[] },
  },
  date: {
    description:
      'Day of the reference rates (`2020-02-29`), from 1999-01-04 to tomorrow in UTC, which is today in some time zones. If none were published on that day, the last published day before it is used, unless `rule` selects another.',
    schema: DAY_SCHEMA,
  },
  rule: {
    description:
      'Which published day has the rates for `date`, which is required: `on-or-before`, that day or the last one within 14 days before it; `exact`, only that day; `next`, that day or the next one within 14 days; `previous-business-day`, the last one within 14 days strictly before it; `period-end`, the last one of its month, so far as published. The response then has `asked` and `rule`. Default: `on-or-before`.',
    schema: { type: 'string', enum: DATE_RULES },
  },
  maxAge: {
    description:
      'Largest age of the rates on `date`, which is required, in days. With `rule=period-end`, the age on the last day of the month, or today if that is earlier. Older rates are a 404.',
    schema: { type: 'integer', minimum: 0, maximum: MAX_AGE_LIMIT },
  },
  source: {
    description:
      'Id of the only source of the reference rates, as in `/v1/sources`: `ecb`, or another bank that is configured. Without it, the first source with all currencies. Requires `date`, except for a history.',
    schema: { type: 'string', pattern: SOURCE_FORM.source },
  },
  expand: {
    description:
      '`sources` adds `sources`: the rate of the pair from every source of reference rates, with its day and its deviation from `rate` in percent. With `date`, on that day by `rule`; otherwise the newest. For one target currency and JSON only.',
    schema: { type: 'string', enum: ['sources'] },
  },
  period: {
    description:
      'Length of the history, back from the newest published day, both ends included. Default: `1M`. Conflicts with `start` and `end`.',
    schema: { type: 'string', enum: PERIODS },
  },
  start: {
    description: 'First day (`2008-09-01`). Reference rates begin on 1999-01-04.',
    schema: DAY_SCHEMA,
  },
  end: {
    description:
      'Last day, not before `start`; by default the newest published day. Requires `start`.',
    schema: DAY_SCHEMA,
  },
  interval: {
    description:
      '`day`, the default, returns every published day; `week` (Monday to Sunday), `month`, `quarter` and `year` return one point for each.',
    schema: { type: 'string', enum: INTERVALS },
  },
  value: {
    description:
      'Rate of an interval longer than a day: its `last` rate (the default), the `average` of its published days to 10 significant digits, `open` (its first), `high` or `low`. The point has the last published day of the interval; for `open` the first, for `high` and `low` the first with that rate. Requires `interval`, except for `last`.',
    schema: { type: 'string', enum: INTERVAL_VALUES },
  },
  fill: {
    description:
      '`previous` returns every calendar day: those without a publication have the rate of the last published day before it, at most 14 days earlier, and `filled`. For daily points only.',
    schema: { type: 'string', enum: FILLS },
  },
  layout: {
    description:
      'Lines of CSV: `long` has one per point, `wide` one per day with a column per target. `wide` requires `format=csv`.',
    schema: { type: 'string', enum: LAYOUTS, default: 'long' },
  },
  format: {
    description: '`csv` returns `text/csv`, which `x-csv` describes. Errors are always JSON.',
    schema: { type: 'string', enum: ['json', 'csv'] satisfies Format[], default: 'json' },
  },
} satisfies Record<string, Parameter>

/** Returns the Parameter Objects of the document, by component name. */
export function parameterComponents(): Record<string, object> {
  const entries = Object.entries<Parameter>(PARAMETERS).map(([id, parameter]) => {
    const { name = id, required = false, ...rest } = parameter
    return [id, { name, in: 'query', required, ...rest }]
  })
  return Object.fromEntries(entries)
}

/** Returns the schema of one of many conversions, with the parameters of a single one. */
export function conversionRow(): Readonly<Record<string, unknown>> {
  const { from, amount, date, rule, maxAge, source, reverse, round } = PARAMETERS
  const properties = { from, to: ROW_TARGETS, amount, date, rule, maxAge, source, reverse, round }
  const described = Object.entries<Parameter>(properties).map(([name, each]) => {
    return [name, { description: each.description, ...each.schema }]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(described),
    required: ['from', 'to'],
    additionalProperties: {},
  }
}

const ROW_TARGETS: Parameter = {
  description: 'Target currency code, case-insensitive, or a list of codes, which gives `results`.',
  schema: {
    anyOf: [CODE_SCHEMA, { type: 'array', items: CODE_SCHEMA, minItems: 1, maxItems: MAX_SYMBOLS }],
  },
}
