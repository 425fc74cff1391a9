import { parameterForms } from './parameter-schemas.ts'
import type { ParameterName } from './parameter-schemas.ts'

/** What the document says of a parameter beyond its form. */
interface Description {
  /** How it is written in a query, where that is not the name of its component. */
  name?: string
  description: string
  /** What it is where it is left out. */
  default?: string | number | boolean
  /** Of required ones only: viewers fill in and send every example, also those of parameters that exclude each other. */
  example?: string
}

const DESCRIPTIONS: Record<ParameterName, Description> = {
  base: {
    description: 'Code of the currency against which the rates are quoted, in either case.',
    default: 'USD',
  },
  symbols: {
    description:
      'Codes to include, separated by commas (`EUR,GBP`), at most 250 of them; all where there is none. A currency that was withdrawn and has left the feed is left out.',
  },
  from: { description: 'Code of the source currency, in either case.', example: 'USD' },
  to: { description: 'Code of the target currency, in either case.', example: 'EUR' },
  targets: {
    name: 'to',
    description:
      'Code of the target currency, in either case; or several, separated by commas (`EUR,GBP`), at most 250 of them. With any comma there are `results`, also of one code.',
    example: 'EUR',
  },
  amount: {
    description:
      'How much of `from`, a plain decimal (`100`, `0.5`, `1e-7`). Beyond its pattern, it and the result must be finite as doubles, and it must not be so small that a double makes 0 of it.',
    default: 1,
  },
  reverse: {
    description:
      'Whether `amount` is of `to`, and the result how much of `from` gives it, to 15 significant digits.',
    default: false,
  },
  date: {
    description:
      'The day whose reference rates are meant (`2020-02-29`), since 1999-01-04; where none were published on it, the last day before on which there were. At the latest tomorrow in UTC, which is today somewhere.',
  },
  period: {
    description:
      'How far back from the newest published day; both ends belong to it. `1M` by default. Not together with `start` or `end`.',
  },
  start: {
    description: 'The first day (`2008-09-01`); there are reference rates since 1999-01-04.',
  },
  end: {
    description:
      'The last day; the newest published one where it is left out. Only together with `start`, and not before it.',
  },
  interval: {
    description:
      'Every published day (`day`, as without it), or the last one of each week (Monday to Sunday) or month.',
  },
  format: {
    description: '`csv` answers with `text/csv`, which `x-csv` describes. Errors are always JSON.',
    default: 'json',
  },
}

/** The Parameter Objects of the document, by the names of their components. */
export function parameterComponents(): Record<string, object> {
  const forms = Object.entries(parameterForms())
  return Object.fromEntries(
    forms.map(([id, { schema, required }]) => {
      const { name = id, description, example, default: initial } = Object(DESCRIPTIONS)[id]
      const defaulted = initial === undefined ? schema : { ...schema, default: initial }
      const shown = example === undefined ? {} : { example }
      return [id, { name, in: 'query', required, description, schema: defaulted, ...shown }]
    }),
  )
}
