export { convertAt } from './convert-at.ts'
export { createQuotes } from './quotes.ts'
export type { NewQuoteParams, Quotes, QuotesOptions } from './quotes.ts'
export type { QuoteSettings } from './settings.ts'
export type {
  ConversionResult,
  ConvertedAmount,
  Quote,
  QuotedConversion,
  QuotedConversionList,
} from '../api/convert.ts'
export type {
  DayChoice,
  QuoteParams,
  QuotedParams,
  SnapshotConversionParams,
} from '../api/parameter-types.ts'
export type { RatesSnapshot } from '../api/snapshot.ts'
export { RatesError } from '../errors.ts'
