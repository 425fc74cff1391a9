import * as z from 'zod/mini'

import { targets, truth } from '../endpoints/conversion-parameters.ts'
import {
  MAX_AMOUNT_CHARACTERS,
  MAX_SYMBOLS,
  MAX_SYMBOLS_CHARACTERS,
  amount,
  base,
  currency,
  date,
  format,
  interval,
  period,
  symbols,
} from '../endpoints/parameters.ts'
import type { Format } from '../endpoints/parameters.ts'
import { INTERVALS } from '../rates/interval.ts'
import { PERIODS } from '../rates/period.ts'

const CODE = '[A-Za-z]{3}'

/** One more code of a list, and what stands before it. */
const ANOTHER_CODE = `( *,[ ,]*${CODE})`

/** One code; or a list, in which there is a comma before the only code, behind it, or between several. */
const TARGETS = [
  CODE,
  ` *,[ ,]*${CODE}[ ,]*`,
  ` *${CODE} *,[ ,]*`,
  `[ ,]*${CODE}${ANOTHER_CODE}{1,${MAX_SYMBOLS - 1}}[ ,]*`,
]

/** What JSON Schema has in the place of checks that are functions. */
const forms = z.registry<Record<string, unknown>>()
forms.add(currency, { pattern: `^${CODE}$` })
forms.add(symbols, {
  pattern: `^[ ,]*(${CODE}${ANOTHER_CODE}{0,${MAX_SYMBOLS - 1}}[ ,]*)?$`,
  maxLength: MAX_SYMBOLS_CHARACTERS,
})
forms.add(targets, { pattern: `^(${TARGETS.join('|')})$`, maxLength: MAX_SYMBOLS_CHARACTERS })
// Programs send a number, and people any text that is one.
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
// It is sent as the text `true` or `false`, and nothing else is taken for it.
forms.add(truth, { type: 'boolean' })
forms.add(date, { format: 'date' })
forms.add(period, { type: 'string', enum: PERIODS })
forms.add(interval, { type: 'string', enum: INTERVALS })
forms.add(format, { type: 'string', enum: ['json', 'csv'] satisfies Format[] })

/** The schemas by which queries are checked, by the names of the parameters, but `targets`, which is another `to`. */
const parameterSchemas = {
  base,
  symbols,
  from: currency,
  to: currency,
  targets,
  amount,
  reverse: truth,
  date,
  period,
  start: date,
  end: date,
  interval,
  format,
}

/** A parameter of any operation. */
export type ParameterName = keyof typeof parameterSchemas

/** The form that a parameter is to have as a text, in JSON Schema, and whether it may be left out. */
export interface ParameterForm {
  schema: object
  required: boolean
}

/** The form of every parameter. That an amount must be finite as a double, and not become 0, is more than a pattern says. */
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
