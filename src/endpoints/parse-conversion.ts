import { createQueryParser } from '../http/query.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import type { ConversionParams } from '../records/conversion.ts'
import { MISTAKEN_CONVERSION_NAMES } from '../records/mistaken-names.ts'
import { amount, currency, failures, isAmount } from './parameters.ts'

/** The conversion that a query requests. */
export interface ParsedConversion {
  params: ConversionParams
  /** The raw amount, for error messages. */
  amountSent: string | undefined
}

type ConversionParameters = Record<string, string> & {
  from: string
  to: string
  amount: string | undefined
}

/** Parses the query of a conversion, which v1 and the unversioned API share. */
export const parseConversion: (query: string) => ParsedConversion = createQueryParser({
  parameters: { from: currency, to: currency, amount },
  failures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  accepts: (values): values is ConversionParameters => {
    const { from, to, amount: sent } = values
    return isCodeShaped(from) && isCodeShaped(to) && (sent === undefined || isAmount(sent))
  },
  toParams: ({ from, to, amount: amountSent }) => {
    const value = amountSent === undefined ? undefined : Number(amountSent)
    return { params: { from, to, amount: value }, amountSent }
  },
})
