import * as z from 'zod/mini'

import {
  MAX_AMOUNT_CHARACTERS,
  MAX_SYMBOLS,
  MAX_SYMBOLS_CHARACTERS,
  amount,
  base,
  booleanFlag,
  currency,
  date,
  format,
  interval,
  period,
  symbols,
  targets,
} from '../../src/endpoints/parameters.ts'
import type { Format } from '../../src/endpoints/parameters.ts'
import { INTERVALS, PERIODS } from '../../src/rates/dates.ts'

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
export interface ParameterForm {
  schema: object
  required: boolean
}

/** Returns the form of every parameter. No pattern can express that an amount must be a finite double that does not underflow to 0. */
export function parameterForms(): Record<ParameterName, ParameterForm> {
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
