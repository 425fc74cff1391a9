import { MAX_AMOUNT_CHARACTERS, amount, booleanFlag, targets } from '../../src/endpoints/convert.ts'
import {
  MAX_SYMBOLS,
  MAX_SYMBOLS_CHARACTERS,
  base,
  currency,
  date,
  format,
  interval,
  period,
  symbols,
} from '../../src/endpoints/parameters.ts'
import type { Format } from '../../src/endpoints/parameters.ts'
import { INTERVALS, PERIODS } from '../../src/rates/dates.ts'
import * as z from 'zod/mini'

interface Description {
  name?: string
  description: string
  default?: string | number | boolean
  /** For required parameters only: viewers fill in and send every example, even of parameters that exclude each other. */
  example?: string
}

const DESCRIPTIONS: Record<ParameterName, Description> = {
  base: {
    description: 'Base currency code, case-insensitive.',
    default: 'USD',
  },
  symbols: {
    description:
      'Comma-separated codes to include (`EUR,GBP`), at most 250; all codes by default. A withdrawn currency that the feed no longer carries is omitted.',
  },
  from: { description: 'Source currency code, case-insensitive.', example: 'USD' },
  to: { description: 'Target currency code, case-insensitive.', example: 'EUR' },
  targets: {
    name: 'to',
    description:
      'Target currency code, case-insensitive, or at most 250 codes separated by commas (`EUR,GBP`). With any comma, the response has `results`, even for one code.',
    example: 'EUR',
  },
  amount: {
    description:
      'Amount of `from`, a plain decimal (`100`, `0.5`, `1e-7`). Beyond the pattern, the amount and the result must be finite doubles, and a non-zero amount must not underflow to 0.',
    default: 1,
  },
  reverse: {
    description:
      'If true, `amount` is in `to`, and `result` is the amount of `from` that converts to it, to 15 significant digits.',
    default: false,
  },
  date: {
    description:
      'Day of the reference rates (`2020-02-29`), from 1999-01-04 to tomorrow in UTC, which is today in some time zones. If none were published on that day, the last published day before it is used.',
  },
  period: {
    description:
      'Length of the history, back from the newest published day, both ends included. Default: `1M`. Conflicts with `start` and `end`.',
  },
  start: {
    description: 'First day (`2008-09-01`). Reference rates begin on 1999-01-04.',
  },
  end: {
    description:
      'Last day, not before `start`; by default the newest published day. Requires `start`.',
  },
  interval: {
    description:
      '`day`, the default, returns every published day; `week` (Monday to Sunday) and `month` return the last published day of each.',
  },
  format: {
    description: '`csv` returns `text/csv`, which `x-csv` describes. Errors are always JSON.',
    default: 'json',
  },
}

/** Returns the Parameter Objects of the document, by component name. */
export function parameterComponents(): Record<string, object> {
  const forms = Object.entries(parameterForms())
  return Object.fromEntries(
    forms.map(([id, { schema, required }]) => {
      const { name = id, description, example, default: fallback } = Object(DESCRIPTIONS)[id]
      const withDefault = fallback === undefined ? schema : { ...schema, default: fallback }
      const examples = example === undefined ? {} : { example }
      return [id, { name, in: 'query', required, description, schema: withDefault, ...examples }]
    }),
  )
}

const CODE = '[A-Za-z]{3}'

const ANOTHER_CODE = `( *,[ ,]*${CODE})`

/** One code, or a list: one code with a comma before or after it, or several codes. */
const TARGETS = [
  CODE,
  ` *,[ ,]*${CODE}[ ,]*`,
  ` *${CODE} *,[ ,]*`,
  `[ ,]*${CODE}${ANOTHER_CODE}{1,${MAX_SYMBOLS - 1}}[ ,]*`,
]

const forms = z.registry<Record<string, unknown>>()
forms.add(currency, { pattern: `^${CODE}$` })
forms.add(symbols, {
  pattern: `^[ ,]*(${CODE}${ANOTHER_CODE}{0,${MAX_SYMBOLS - 1}}[ ,]*)?$`,
  maxLength: MAX_SYMBOLS_CHARACTERS,
})
forms.add(targets, { pattern: `^(${TARGETS.join('|')})$`, maxLength: MAX_SYMBOLS_CHARACTERS })
// Generated clients can then pass a number or a string.
forms.add(amount, {
  type: undefined,
  anyOf: [
    { type: 'number', minimum: 0 },
    {
      type: 'string',
      pattern: '^([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([eE][+-]?[0-9]+)?$',
      maxLength: MAX_AMOUNT_CHARACTERS,
    },
  ],
})
// Sent as `true` or `false`; anything else is rejected.
forms.add(booleanFlag, { type: 'boolean' })
forms.add(date, { format: 'date' })
forms.add(period, { type: 'string', enum: PERIODS })
forms.add(interval, { type: 'string', enum: INTERVALS })
forms.add(format, { type: 'string', enum: ['json', 'csv'] satisfies Format[] })

/** Schemas that validate queries, by parameter name; `targets` is the `to` of `/v1/convert`. */
const parameterSchemas = {
  base,
  symbols,
  from: currency,
  to: currency,
  targets,
  amount,
  reverse: booleanFlag,
  date,
  period,
  start: date,
  end: date,
  interval,
  format,
}

/** Name of a parameter component. */
export type ParameterName = keyof typeof parameterSchemas

/** JSON Schema of a parameter in a query. */
interface ParameterForm {
  schema: object
  required: boolean
}

/** Returns the form of every parameter. No pattern can express that an amount must be a finite double that does not underflow to 0. */
function parameterForms(): Record<ParameterName, ParameterForm> {
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(parameterSchemas), {
    io: 'input',
    unrepresentable: 'any',
    metadata: forms,
  })
  const form = (name: ParameterName): ParameterForm => ({
    schema: Object(properties[name]),
    required: required.includes(name),
  })
  return {
    base: form('base'),
    symbols: form('symbols'),
    from: form('from'),
    to: form('to'),
    targets: form('targets'),
    amount: form('amount'),
    reverse: form('reverse'),
    date: form('date'),
    period: form('period'),
    start: form('start'),
    end: form('end'),
    interval: form('interval'),
    format: form('format'),
  }
}
