import { ConvertedRow } from '../api/convert-many.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { QuotedParams, QuoteParams } from '../api/parameter-types.ts'
import { createQueryParser } from '../http/query.ts'
import { uncached } from '../http/response.ts'
import type { Endpoint, EndpointResult } from '../http/response.ts'
import { createQuoteService } from '../quotes/quotes.ts'
import type { QuotesOptions } from '../quotes/quotes.ts'

/** The endpoints that make and redeem quotes; their responses are never cached. */
export interface QuoteEndpoints {
  create: Endpoint
  /** `params` are those of a query with a quote. */
  convert(params: QuotedParams & { quote?: string | undefined }): Promise<EndpointResult>
  convertRow(row: object): Promise<ConvertedRow>
}

export function createQuoteEndpoints(
  options: QuotesOptions,
  keyNames: readonly string[],
): QuoteEndpoints {
  const { create, convert, convertRow } = createQuoteService(options)
  const parse = createQueryParser<QuoteParams>(OPERATIONS.quote, keyNames)
  return {
    create: async (query) => uncached(await create(parse(query).params)),
    convert: async ({ quote = '', ...params }) => uncached(await convert(quote, params)),
    convertRow: async (row) => new ConvertedRow(await convertRow(row)),
  }
}
