import type * as z from 'zod/mini'

import type { RatesErrorCode } from '../errors.ts'
import { conversionRecord, conversionsRecord, unversionedConversion } from './conversion-records.ts'
import { conversionCsv, datedLatestCsv, historyCsv, latestCsv } from './csv.ts'
import { historyRangeRecord, historyRecord } from './history-record.ts'
import type { ParameterName } from './parameter-schemas.ts'
import { datedLatestRecord, latestRecord, unversionedTable } from './rate-records.ts'
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
  /** The schemas of its records, of which every one has exactly one. */
  bodies: readonly z.ZodMiniType[]
  /** JSON Schemas of its answers in CSV, where it has any; each answer has exactly one. */
  csv?: readonly object[]
  /** Queries that are answered with a record, by a name for each. */
  examples: Readonly<Record<string, string>>
  /** A query for every error that a question can be answered with, as `/v1` names it. */
  errorExamples: Readonly<Partial<Record<RatesErrorCode, string>>>
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
      'May be cached for 60 seconds. Without `symbols`, the base itself is among the rates. With `date` they are the reference rates of that day.',
    parameters: ['base', 'symbols', 'date', 'format'],
    bodies: [latestRecord, datedLatestRecord],
    csv: [latestCsv, datedLatestCsv],
    examples: {
      all: '',
      someAgainstTheEuro: '?base=EUR&symbols=GBP,USD',
      ofADay: '?base=EUR&symbols=GBP,USD&date=2020-02-29',
      csv: '?base=EUR&symbols=GBP,USD&format=csv',
      csvOfADay: '?base=EUR&symbols=GBP,USD&date=2020-02-29&format=csv',
    },
    errorExamples: {
      invalid_parameter: '?date=29.02.2020',
      invalid_currency: '?symbols=EUR,XYZ',
      unsupported_currency: '?base=KWD&date=2020-02-29',
      no_data: '?date=1998-12-31',
    },
  },
  {
    path: '/v1/convert',
    operationId: 'convert',
    tag: RATES,
    summary: 'An amount of one currency in another, or in several',
    description:
      'May be cached for 60 seconds. At the latest rates, or with `date` at the reference rates of that day.',
    parameters: ['from', 'targets', 'amount', 'reverse', 'date', 'format'],
    bodies: [conversionRecord, conversionsRecord],
    csv: conversionCsv,
    examples: {
      oneHundred: '?from=USD&to=EUR&amount=100',
      intoSeveral: '?from=USD&to=EUR,GBP&amount=100',
      inReverse: '?from=USD&to=EUR&amount=100&reverse=true',
      ofADay: '?from=USD&to=EUR&amount=100&date=2020-02-29',
      inReverseIntoSeveralOfADay: '?from=USD&to=EUR,GBP&amount=100&reverse=true&date=2020-02-29',
      csv: '?from=USD&to=EUR,GBP&amount=100&format=csv',
      csvInReverseOfADay: '?from=USD&to=EUR&amount=100&reverse=true&date=2020-02-29&format=csv',
    },
    errorExamples: {
      missing_parameter: '?from=USD',
      invalid_parameter: '?from=USD&to=EUR&reverse=1',
      invalid_currency: '?from=BGN&to=EUR',
      unsupported_currency: '?from=USD&to=KWD&date=2020-02-29',
      invalid_amount: '?from=USD&to=EUR&amount=-1',
      no_data: '?from=USD&to=EUR&date=1998-12-31',
    },
  },
  {
    path: '/v1/history',
    operationId: 'getHistory',
    tag: RATES,
    summary: 'Reference rates of a pair by day, week or month',
    description:
      'Reference rates of the European Central Bank, which quotes some 30 currencies: of a `period`, or of the days from `start` on. May be cached for an hour.',
    parameters: ['from', 'to', 'period', 'start', 'end', 'interval', 'format'],
    bodies: [historyRecord, historyRangeRecord],
    csv: [historyCsv],
    examples: {
      oneWeek: '?from=USD&to=EUR&period=1W',
      threeMonthsByMonth: '?from=USD&to=EUR&period=3M&interval=month',
      range: '?from=USD&to=EUR&start=2008-09-12&end=2008-09-16',
      rangeByWeek: '?from=USD&to=EUR&start=2008-09-01&end=2008-09-30&interval=week',
      csv: '?from=USD&to=EUR&period=1W&format=csv',
    },
    errorExamples: {
      missing_parameter: '?to=EUR',
      invalid_parameter: '?from=USD&to=EUR&period=1W&start=2008-09-12',
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
    bodies: [currenciesRecord],
    examples: { some: '' },
    errorExamples: {},
    shorten: onlySome,
  },
  {
    path: '/v1/status',
    operationId: 'getStatus',
    tag: SERVICE,
    summary: 'How the data stand',
    description:
      '200 in any state of the data. Asking starts the first load of a cold service, and refreshes what is overdue.',
    parameters: [],
    bodies: [statusRecord],
    examples: { ready: '' },
    errorExamples: {},
  },
  {
    path: '/v1/openapi.json',
    operationId: 'getOpenApi',
    tag: SERVICE,
    summary: 'This document',
    description: 'Its server is the base path of the service. May be cached for an hour.',
    parameters: [],
    bodies: [openApiDocument],
    examples: { itself: '' },
    errorExamples: {},
    shorten: () => undefined,
  },
  {
    path: '/rates',
    operationId: 'getUnversionedRates',
    tag: EARLIER,
    summary: 'Latest rates against a base, as clients before `/v1` read them',
    description: 'May be cached for 60 seconds.',
    parameters: ['base', 'format'],
    bodies: [unversionedTable],
    csv: [latestCsv],
    examples: { all: '', csv: '?format=csv' },
    errorExamples: { invalid_parameter: '?base[]=EUR', invalid_currency: '?base=XYZ' },
  },
  {
    path: '/convert',
    operationId: 'convertUnversioned',
    tag: EARLIER,
    summary: 'An amount of one currency in another, as clients before `/v1` read it',
    description: 'May be cached for 60 seconds.',
    parameters: ['from', 'to', 'amount'],
    bodies: [unversionedConversion],
    examples: { oneHundred: '?from=USD&to=EUR&amount=100' },
    errorExamples: {
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
