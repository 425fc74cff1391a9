import { createQueryParser } from '../http/query.ts'
import type { ConversionQuestion } from '../records/conversion.ts'
import { amount, currency, failures } from './parameters.ts'

/** A conversion that a query asks for. */
export interface AskedConversion {
  question: ConversionQuestion
  /** The amount as it was sent, for an error to name. */
  amountSent: string | undefined
}

/** Reads the query of a conversion, which is the same in both generations. */
export const parseConversion: (query: string) => AskedConversion = createQueryParser({
  parameters: { from: currency, to: currency, amount },
  failures,
  toQuestion: ({ from, to, amount: amountSent }) => {
    const value = amountSent === undefined ? undefined : Number(amountSent)
    return { question: { from, to, amount: value }, amountSent }
  },
})
