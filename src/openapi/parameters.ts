import { parameterForms } from './parameter-schemas.ts'
import type { ParameterName } from './parameter-schemas.ts'

/** What is told of a parameter beside its form; all values are texts. */
interface Told {
  description: string
  /** What it is where it is left out. */
  default?: string
  example: string
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
  amount: {
    description:
      'How much of `from`, a plain decimal. Beyond its pattern, it and the result must be finite as doubles, and it must not be so small that a double makes 0 of it.',
    default: '1',
    example: '100',
  },
  period: {
    description: 'How far back from the newest published day; both ends belong to it.',
    default: '1M',
    example: '1W',
  },
  format: {
    description: 'What the answer is to be written in. Errors are JSON in any case.',
    default: 'json',
    example: 'csv',
  },
}

/** The Parameter Objects of the document, by their names. */
export function parameterComponents(): Record<string, object> {
  const forms = Object.entries(parameterForms())
  return Object.fromEntries(
    forms.map(([name, { schema, required }]) => {
      const { description, example, default: initial } = Object(TOLD)[name]
      const defaulted = initial === undefined ? schema : { ...schema, default: initial }
      return [name, { name, in: 'query', required, description, schema: defaulted, example }]
    }),
  )
}
