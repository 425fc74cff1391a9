import type * as z from 'zod/mini'

import type { RatesErrorCode } from '../errors.ts'
import { historyCsv, latestCsv } from './csv.ts'
import { historyRecord } from './history-record.ts'
import type { ParameterName } from './parameter-schemas.ts'
import {
  conversionRecord,
  latestRecord,
  unversionedConversion,
  unversionedTable,
} from './rate-records.ts'
import { currenciesRecord, openApiDocument, statusRecord } from './service-records.ts'

/** An operation, and questions to it whose answers are shown. Queries begin with a question mark. */
export interface Operation {
  /** Below the base path. */
  path: string
  operationId: string
  tag: string
  summary: string
  description: string
  parameters: readonly ParameterName[]
  /** The schema of its records. */
  record: z.ZodMiniType
  /** The schema of its answers in CSV, where it has any. */
  csv?: z.ZodMiniType
  /** Queries that are answered with a record, by a name for each. */
  questions: Readonly<Record<string, string>>
  /** A query for every error that a question can be answered with, as `/v1` names it. */
  refusals: Readonly<Partial<Record<RatesErrorCode, string>>>
  /** What is shown of a record that is too long to be; nothing where it returns nothing. */
  shorten?(record: object): object | undefined
}

const RATES = 'Rates'
const EARLIER = 'Earlier endpoints'
const SERVICE = 'Service'

/** What the operations are grouped by. */
export const tags: readonly { name: string; description: string }[] = [
  { name: RATES, description: 'Rates, and the currencies that there are rates for.' },
  { name: SERVICE, description: 'The service itself.' },
  { name: EARLIER, description: 'As they were before `/v1`: errors and sources are plain texts.' },
]

/** In the order of the document. */
export const operations: readonly Operation[] = [
  {
    path: '/v1/latest',
    operationId: 'getLatest',
    tag: RATES,
    summary: 'Latest rates against a base',
    description:
      'May be cached for 60 seconds. Without `symbols`, the base itself is among the rates.',
    parameters: ['base', 'symbols', 'format'],
    record: latestRecord,
    csv: latestCsv,
    questions: {
      all: '',
      someAgainstTheEuro: '?base=EUR&symbols=GBP,USD',
      csv: '?base=EUR&symbols=GBP,USD&format=csv',
    },
    refusals: { invalid_parameter: '?from=EUR', invalid_currency: '?symbols=EUR,XYZ' },
  },
  {
    path: '/v1/convert',
    operationId: 'convert',
    tag: RATES,
    summary: 'An amount of one currency in another',
    description: 'May be cached for 60 seconds.',
    parameters: ['from', 'to', 'amount'],
    record: conversionRecord,
    questions: { oneHundred: '?from=USD&to=EUR&amount=100' },
    refusals: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&from=EUR&to=JPY',
      invalid_currency: '?from=BGN&to=EUR',
      invalid_amount: '?from=USD&to=EUR&amount=-1',
    },
  },
  {
    path: '/v1/history',
    operationId: 'getHistory',
    tag: RATES,
    summary: 'Daily reference rates of a pair',
    description:
      'Reference rates of the European Central Bank, which quotes some 30 currencies. May be cached for an hour.',
    parameters: ['from', 'to', 'period', 'format'],
    record: historyRecord,
    csv: historyCsv,
    questions: {
      oneWeek: '?from=USD&to=EUR&period=1W',
      csv: '?from=USD&to=EUR&period=1W&format=csv',
    },
    refusals: {
      missing_parameter: '?to=EUR',
      invalid_parameter: '?From=USD&to=EUR',
      invalid_currency: '?from=dollar&to=EUR',
      unsupported_currency: '?from=KWD&to=EUR',
      invalid_period: '?from=USD&to=EUR&period=2W',
      no_data: '?from=USD&to=ISK&period=1W',
    },
  },
  {
    path: '/v1/currencies',
    operationId: 'listCurrencies',
    tag: RATES,
    summary: 'The currencies, in use and withdrawn, and which data cover them',
    description: 'May be cached for 60 seconds, unless what is covered is not known.',
    parameters: [],
    record: currenciesRecord,
    questions: { some: '' },
    refusals: {},
    shorten: onlySome,
  },
  {
    path: '/v1/status',
    operationId: 'getStatus',
    tag: SERVICE,
    summary: 'How the data stand',
    description:
      'Always 200. Asking starts the first load of a cold service, and refreshes what is overdue.',
    parameters: [],
    record: statusRecord,
    questions: { ready: '' },
    refusals: {},
  },
  {
    path: '/v1/openapi.json',
    operationId: 'getOpenApi',
    tag: SERVICE,
    summary: 'This document',
    description: 'Its server is the base path of the service. May be cached for an hour.',
    parameters: [],
    record: openApiDocument,
    questions: { itself: '' },
    refusals: {},
    shorten: () => undefined,
  },
  {
    path: '/rates',
    operationId: 'getUnversionedRates',
    tag: EARLIER,
    summary: 'Latest rates against a base, as clients before `/v1` read them',
    description: 'May be cached for 60 seconds.',
    parameters: ['base', 'format'],
    record: unversionedTable,
    csv: latestCsv,
    questions: { all: '', csv: '?format=csv' },
    refusals: { invalid_parameter: '?base[]=EUR', invalid_currency: '?base=XYZ' },
  },
  {
    path: '/convert',
    operationId: 'convertUnversioned',
    tag: EARLIER,
    summary: 'An amount of one currency in another, as clients before `/v1` read it',
    description: 'May be cached for 60 seconds.',
    parameters: ['from', 'to', 'amount'],
    record: unversionedConversion,
    questions: { oneHundred: '?from=USD&to=EUR&amount=100' },
    refusals: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&from=EUR&to=JPY',
      invalid_currency: '?from=USD&to=XYZ',
      invalid_amount: '?from=USD&to=EUR&amount=1,5',
    },
  },
]

/** Of currencies, one for each kind. */
function onlySome(record: object): object {
  const { currencies }: { currencies: { code: string }[] } = Object(record)
  const kinds = ['BGN', 'EUR', 'KWD']
  return { currencies: currencies.filter(({ code }) => kinds.includes(code)) }
}
