/** Files whose mutants are tried together, by the tests that are about them. */
export interface Room {
  /** The files that are mutated, as paths or patterns from the project's folder; `!` in front takes one out. */
  files: readonly string[]
  /** The test files that are to notice. */
  tests: readonly string[]
}

/** Every file of arithmetic, gates, cache core and query parsing, in the room whose tests are about it. */
export const ROOMS: Readonly<Record<string, Room>> = {
  // Each of their mutants is tried by every test of the room, as tables are made once. What has types alone has none.
  tables: {
    files: ['src/rates/{currencies,withdrawn,withdrawn-currencies}.ts'],
    tests: ['test/rates/currencies.test.ts'],
  },
  arithmetic: {
    files: ['src/rates/{amount-needed,exact,number-text,rounding}.ts'],
    tests: ['test/rates/{reverse-amounts,rounding,series}.test.ts'],
  },
  calendar: {
    files: ['src/rates/{day,interval,last-of-each,period,target-calendar}.ts'],
    tests: ['test/rates/{calendar,dates,series}.test.ts'],
  },
  rates: {
    files: [
      'src/rates/{accept,currency-code,fixed-rates,history-stats,jumps,market-history}.ts',
      'src/rates/{pair-series,rate-table,rejected-error,require-object}.ts',
    ],
    tests: [
      'test/rates/{currency-code,fixed-rates,market-history,rate-table}.test.ts',
      'test/rates/{series,validate}.test.ts',
    ],
  },
  gates: {
    files: [
      'src/providers/{checked-provider,cross-check,first-good,known-code,major-rates}.ts',
      'src/providers/{market-gates,payload,rates-by-code,read-upstream,reference-days}.ts',
      'src/providers/upstream-error.ts',
    ],
    tests: [
      'test/providers/{cross-check,ecb-xml,exr-csv,fawazahmed0,feeds,frankfurter}.test.ts',
      'test/providers/{keyed-feeds,market-gates,read-upstream}.test.ts',
    ],
  },
  // What makes something of the answers, or refuses them.
  feeds: {
    files: [
      'src/providers/*-table.ts',
      'src/providers/{ecb-answers,exchange-rate-api,frankfurter,frankfurter-v2-rows}.ts',
    ],
    tests: [
      'test/providers/{ecb,exchange-rate-api,fawazahmed0,feeds,frankfurter}.test.ts',
      'test/providers/{frankfurter-v2,keyed-feeds}.test.ts',
    ],
  },
  reserve: {
    files: ['src/sources/reserve.ts'],
    tests: ['test/sources/reserve.test.ts'],
  },
  // Whole days of a dead upstream take longer, and show nothing of a mutant that the others do not.
  cache: {
    files: ['src/cache/*.ts'],
    tests: ['test/cache/!(dead-upstream).test.ts'],
  },
  query: {
    files: [
      'src/http/{query,target,bounded-map}.ts',
      'src/endpoints/{parameters,conversion-parameters,parse-conversion}.ts',
      'src/endpoints/v1/parse-history.ts',
      'src/records/asked-days.ts',
    ],
    tests: ['test/http/{query,target,bounded-map}.test.ts', 'test/endpoints/questions.test.ts'],
  },
}
