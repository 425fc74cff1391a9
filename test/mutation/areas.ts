import { globSync } from 'node:fs'

import { ROOT } from '../system/runtimes.ts'

/** Patterns of mutated files and of the tests that cover them, relative to the project root; a leading `!` excludes files. */
export interface Area {
  files: readonly string[]
  tests: readonly string[]
  /** The lowest accepted score in percent, slightly below the measured one; none for areas without a measurement. */
  threshold?: number
}

/** Tables are evaluated at import, so that each of their mutants needs all tests that import them. */
const CURRENCY_TABLES = 'src/rates/{currency-code,iso-4217}.ts'

const HANDLER_TESTS = ['test/*.test.ts']

/** Comparisons with recorded numbers take seconds, and kill no mutant that the other tests do not kill. */
const ANSWER_TESTS = [
  ...testsIn('endpoints'),
  '!test/endpoints/{history,latest}-numbers.test.ts',
  ...HANDLER_TESTS,
]

/** The areas of `weekly.yml`: folders of `src`, `adapters`, and the tables of currencies, which are slower than the rest of `rates`. */
export const AREAS: Readonly<Record<string, Area>> = {
  access: {
    files: sourcesIn('access', 'connections'),
    tests: [...testsIn('access'), '!test/access/model.test.ts'],
  },
  adapters: {
    // Adapters of other runtimes, and of proxies, are tested in other processes, without mutants.
    files: ['adapters/*.ts', '!adapters/{bun,cloudflare,deno}.ts'],
    tests: ['test/smoke/{hosts,node}.test.ts', 'test/catalogue/hostile.test.ts'],
  },
  api: { files: sourcesIn('api'), tests: ANSWER_TESTS, threshold: 93 },
  cache: { files: sourcesIn('cache'), tests: testsIn('cache'), threshold: 98 },
  cli: {
    // What only a started command reaches, `system` tests in other processes, without mutants.
    files: [...sourcesIn('cli'), '!src/cli/{main,serve,servers,tls,upstreams}.ts'],
    tests: [...testsIn('cli'), '!test/cli/{doctor-all,export-faults}.test.ts'],
  },
  client: { files: sourcesIn('client'), tests: testsIn('client'), threshold: 92 },
  compat: { files: sourcesIn('compat'), tests: testsIn('compat') },
  currencies: {
    files: [CURRENCY_TABLES],
    tests: ['test/rates/*currenc*.test.ts'],
    threshold: 99.5,
  },
  endpoints: {
    files: sourcesIn('endpoints'),
    tests: [...ANSWER_TESTS, 'test/openapi/document.test.ts'],
    threshold: 90.5,
  },
  http: {
    files: sourcesIn('http'),
    // Headers of all responses, of CSV and of the explorer; targets.
    tests: [
      ...testsIn('http'),
      'test/endpoints/{every-response,csv,explorer-page}.test.ts',
      'test/catalogue/{hostile,requests}.test.ts',
      ...HANDLER_TESTS,
    ],
    threshold: 90.5,
  },
  money: {
    files: sourcesIn('money', 'quotes'),
    tests: [...testsIn('quotes'), '!test/quotes/jose.test.ts', 'test/money.test.ts'],
  },
  monitoring: { files: sourcesIn('monitoring'), tests: testsIn('monitoring') },
  providers: {
    files: sourcesIn('upstream', 'providers'),
    // The contract, keys and recordings take seconds, and kill no mutant that the other tests do not kill.
    tests: [...testsIn('providers'), '!test/providers/{feed-contracts,*-recorded,keys}.test.ts'],
  },
  rates: {
    files: [...sourcesIn('rates'), `!${CURRENCY_TABLES}`],
    tests: testsIn('rates'),
    threshold: 93.5,
  },
  sources: { files: sourcesIn('sources'), tests: [...testsIn('sources'), ...HANDLER_TESTS] },
  stores: {
    files: sourcesIn('stores', 'testing', 'sql'),
    tests: [...testsIn('stores', 'testing'), 'test/sql/sql.test.ts'],
  },
}

function sourcesIn(...folders: string[]): string[] {
  return folders.map((folder) => `src/${folder}/**/*.ts`)
}

function testsIn(...folders: string[]): string[] {
  return folders.map((folder) => `test/${folder}/**/*.test.ts`)
}

/**
 * Returns the files that match `patterns`.
 *
 * @throws {Error} if a pattern matches nothing, as after a rename
 */
export function selectFiles(patterns: readonly string[]): string[] {
  const filesOf = (pattern: string): string[] => {
    const files = globSync(pattern, { cwd: ROOT })
    if (files.length === 0) throw new Error(`the pattern ${pattern} matches no file`)
    return files
  }
  const isExcluding = (pattern: string): boolean => pattern.startsWith('!')
  const excluded = patterns.filter(isExcluding).flatMap((pattern) => filesOf(pattern.slice(1)))
  const selected = patterns.filter((pattern) => !isExcluding(pattern)).flatMap(filesOf)
  return [...new Set(selected)].filter((file) => !excluded.includes(file)).toSorted()
}
