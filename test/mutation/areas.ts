import { globSync } from 'node:fs'

import { ROOT } from '../system/runtimes.ts'

/** A part of the source and the tests that cover it, whose mutants are run together. */
export interface Area {
  /** Patterns of mutated files, relative to the project root; a leading `!` excludes files. */
  files: readonly string[]
  /** Patterns of test files, in the same form. */
  tests: readonly string[]
  /** The lowest accepted score in percent, slightly below the measured one; none for areas without a measurement. */
  threshold?: number
}

/** Tables are evaluated at import, so that each of their mutants needs all tests that import them. */
const CURRENCY_TABLES = 'src/rates/{currency-code,iso-4217}.ts'

/** Tests of the whole handler. Others in that folder import no source, and are not run. */
const HANDLER_TESTS = ['test/*.test.ts']

/** Comparisons with recorded numbers take seconds, and kill no mutant that the other tests do not kill. */
const ANSWER_TESTS = [
  ...testsIn('endpoints'),
  '!test/endpoints/{history,latest}-numbers.test.ts',
  ...HANDLER_TESTS,
]

/** The contract, keys and recordings take seconds, and kill no mutant that the other tests do not kill. */
const PROVIDER_TESTS = [
  ...testsIn('providers'),
  '!test/providers/{feed-contracts,*-recorded,keys}.test.ts',
]

/** All areas: `adapters`, folders of `src`, and the tables of currencies, which are slower than the rest of `rates`. */
export const AREAS: Readonly<Record<string, Area>> = {
  currencies: {
    files: [CURRENCY_TABLES],
    tests: ['test/rates/*currenc*.test.ts'],
    threshold: 99.5,
  },
  rates: {
    files: [...sourcesIn('rates'), `!${CURRENCY_TABLES}`],
    tests: testsIn('rates'),
    threshold: 93.5,
  },
  providers: {
    files: [...sourcesIn('upstream'), ...sourcesIn('providers')],
    tests: PROVIDER_TESTS,
  },
  sources: { files: sourcesIn('sources'), tests: [...testsIn('sources'), ...HANDLER_TESTS] },
  cache: { files: sourcesIn('cache'), tests: testsIn('cache'), threshold: 98 },
  http: {
    files: sourcesIn('http'),
    // Headers of all responses, of CSV and of the explorer; targets.
    tests: [
      ...testsIn('http'),
      'test/endpoints/{every-response,csv,explorer-page}.test.ts',
      'test/advisories/hostile-hosts.test.ts',
      ...HANDLER_TESTS,
    ],
    threshold: 90.5,
  },
  endpoints: {
    files: sourcesIn('endpoints'),
    tests: [...ANSWER_TESTS, 'test/openapi/document.test.ts'],
    threshold: 90.5,
  },
  api: { files: sourcesIn('api'), tests: ANSWER_TESTS, threshold: 93 },
  compat: { files: sourcesIn('compat'), tests: testsIn('compat') },
  client: { files: sourcesIn('client'), tests: testsIn('client'), threshold: 92 },
  adapters: {
    // Adapters of other runtimes, and of proxies, are tested in other processes, without mutants.
    files: ['adapters/*.ts', '!adapters/{bun,cloudflare,deno}.ts'],
    tests: ['test/system/*-adapter.test.ts', 'test/advisories/path-*.test.ts'],
  },
}

function sourcesIn(folder: string): string[] {
  return [`src/${folder}/**/*.ts`]
}

function testsIn(folder: string): string[] {
  return [`test/${folder}/**/*.test.ts`]
}

/**
 * Returns the files that match `patterns`, as paths from the project root; a leading `!` excludes files.
 *
 * @throws {Error} if a pattern matches nothing, as after a rename
 */
export function selectFiles(patterns: readonly string[]): string[] {
  const selected = new Set<string>()
  for (const pattern of patterns) {
    const isExcluding = pattern.startsWith('!')
    const files = globSync(isExcluding ? pattern.slice(1) : pattern, { cwd: ROOT })
    if (files.length === 0) throw new Error(`the pattern ${pattern} matches no file`)
    for (const file of files) {
      if (isExcluding) selected.delete(file)
      else selected.add(file)
    }
  }
  return [...selected].toSorted()
}
