import { parameterForms } from './parameter-schemas.ts'
import type { ParameterName } from './parameter-schemas.ts'

/** What is told of a parameter beside its form. */
interface Told {
  /** How it is written in a query, where that is not the name of its component. */
  name?: string
  description: string
  /** What it is where it is left out. */
  default?: string | boolean
  example: string | boolean
}

const TOLD: Record<ParameterName, Told> = {
  base: {
    description: 'Code of the currency against which the rates are quoted, in either case.',
    default: 'USD',
    example: 'EUR',
  },
  symbols: {
    description:
      'Codes to include, separated by commas, at most 250 of them; all where there is none. A currency that was withdrawn and has left the feed is left out.',
    example: 'EUR,GBP',
  },
  from: { description: 'Code of the source currency, in either case.', example: 'USD' },
  to: { description: 'Code of the target currency, in either case.', example: 'EUR' },
  targets: {
    name: 'to',
    description:
      'Code of the target currency, in either case; or several, separated by commas, at most 250 of them. With any comma there are `results`, also of one code.',
    example: 'EUR',
  },
  amount: {
    description:
      'How much of `from`, a plain decimal. Beyond its pattern, it and the result must be finite as doubles, and it must not be so small that a double makes 0 of it.',
    default: '1',
    example: '100',
  },
  reverse: {
    description:
      'Whether `amount` is of `to`, and the result how much of `from` gives it, to 15 significant digits.',
    default: false,
    example: true,
  },
  date: {
    description:
      'The day whose reference rates are meant, since 1999-01-04; where none were published on it, the last day before on which there were. At the latest tomorrow in UTC, which is today somewhere.',
    example: '2020-02-29',
  },
  period: {
    description:
      'How far back from the newest published day; both ends belong to it. Not beside `start` or `end`.',
    default: '1M',
    example: '1W',
  },
  start: {
    description: 'The first day; there are reference rates since 1999-01-04.',
    example: '2008-09-01',
  },
  end: {
    description:
      'The last day; the newest published one where it is left out. Only beside `start`, and not before it.',
    example: '2008-12-31',
  },
  interval: {
    description:
      'Whether every published day is told, or the last one of each week (Monday to Sunday) or month.',
    example: 'week',
  },
  format: {
    description: 'What the answer is to be written in. Errors are JSON in any case.',
    default: 'json',
    example: 'csv',
  },
}

/** The Parameter Objects of the document, by the names of their components. */
export function parameterComponents(): Record<string, object> {
  const forms = Object.entries(parameterForms())
  return Object.fromEntries(
    forms.map(([id, { schema, required }]) => {
      const { name = id, description, example, default: initial } = Object(TOLD)[id]
      const defaulted = initial === undefined ? schema : { ...schema, default: initial }
      return [id, { name, in: 'query', required, description, schema: defaulted, example }]
    }),
  )
}
