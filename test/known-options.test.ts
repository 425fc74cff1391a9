import { describe, expect, it } from 'vitest'

import { ENTRY_POINTS } from '../scripts/entry-points.ts'
import { createFrankfurterProvider } from '../src/index.ts'
import { fakeProviders } from '../src/testing/index.ts'

const ROOT = new URL('..', import.meta.url)

type Call = (...args: unknown[]) => unknown

/** Every function of every entry point, without types, by its name and entry point. */
const functions: Record<string, Call> = {}
for (const { subpath, source } of ENTRY_POINTS) {
  const members: object = await import(new URL(source, ROOT).href)
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === 'function') functions[`${name} ${subpath}`] = member
  }
}

const WITHOUT_OPTIONS =
  /^(RatesError|allocate|convertAt|digitsOf|find\w+|fromMinorUnits|to\w+|pegged|fixed|createKey|hashKey|createFileStore|fakeClock|storeContract|createMetrics|serveStdio|withRequestIds) /

const { latest, history } = fakeProviders()
const handler = functions['createRatesHandler .']?.({ providers: { latest, history } })

/** A client for any store: it has every method. */
const client: object = new Proxy({}, { has: () => true, get: () => async () => null })

const FIRST: [functions: RegExp, args: unknown[]][] = [
  [/^roundTo /, ['1', 'USD']],
  [/^serve /, [() => new Response()]],
  [/^overlay /, [latest]],
  [/^createMcpHandler /, [handler]],
  [/^create(File|Sqlite)(KeyStore|Store) /, [':memory:']],
  [/^(createRedisCounters|syncRates) | \.\/stores\//, [client]],
  [/^failingProvider /, ['unreachable']],
  [/ \.\/monitoring$/, [handler]],
]

function call(name: string, options: unknown): unknown {
  const [, args = []] = FIRST.find(([pattern]) => pattern.test(name)) ?? []
  const hasOptionsOnly = /^[^(]*\(options\b/.test(String(functions[name]))
  return functions[name]?.(...(hasOptionsOnly ? [] : args), options)
}

/** Functions with options. The value of an option may be an object of options, too. */
const FACTORIES: Record<string, (options: object) => unknown> = {
  ...Object.fromEntries(
    Object.keys(functions)
      .filter((name) => !WITHOUT_OPTIONS.test(name))
      .map((name) => [name, (options) => call(name, options)]),
  ),
  'createRatesHandler providers': (providers) => call('createRatesHandler .', { providers }),
  'createRatesHandler quotes': (quotes) => call('createRatesHandler .', { quotes }),
  'createRatesHandler maxStale': (maxStale) => call('createRatesHandler .', { maxStale }),
  'createUndiciFetch timeouts': (timeouts) => call('createUndiciFetch ./undici', { timeouts }),
  'serve tls': (tls) => call('serve ./node', { tls }),
}

async function failureOf(make: (options: object) => unknown, options: object): Promise<unknown> {
  try {
    await make(options)
  } catch (error) {
    return error
  }
  return undefined
}

describe('an unknown option', () => {
  it('is tried in every function that is not known to have no options', () => {
    expect(Object.keys(FACTORIES).length).toBeGreaterThanOrEqual(36)
  })

  it.each(Object.entries(FACTORIES))('causes a TypeError in %s', async (_name, make) => {
    const error = await failureOf(make, { zzzzzzzz: undefined })
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toMatch(/: unknown option "([\w]+\.)?zzzzzzzz"; known options: \w/)
  })

  it.each([
    ['createRatesHandler .', { provider: { latest } }, '"provider"; did you mean "providers"?'],
    [
      'createRatesHandler .',
      { ttl: 60 },
      '"ttl"; known options: basePath, providers, store, fetch, now, ',
    ],
    ['createRatesHandler .', { stale: {} }, '"stale"; did you mean "maxStale"?'],
    [
      'createRatesHandler providers',
      { rates: latest },
      '"providers.rates"; known options: providers.latest, providers.history',
    ],
    ['createRatesClient ./client', { baseURL: '' }, '"baseURL"; did you mean "baseUrl"?'],
    ['fakeProviders ./testing', { rates: { USD: 2 } }, '"rates"; known options: seed, now'],
    ['createFrankfurterProvider .', { baseUrl: '' }, '"baseUrl"; did you mean "url"?'],
    ['serve ./node', { host: '::' }, '"host"; did you mean "hostname"?'],
    ['serve tls', { pfx: 'a' }, '"tls.pfx"; known options: tls.key, tls.cert'],
  ])('in %s is named with the nearest known one: %j', async (factory, options, message) => {
    const error = await failureOf(FACTORIES[factory] ?? String, options)
    expect(String(error)).toContain(`unknown option ${message}`)
  })

  it.each([['https://relay.example'], [null], [['https://relay.example']], [() => {}]])(
    'is not needed for a TypeError where options are not an object: %j',
    (options: unknown) => {
      // @ts-expect-error options must be an object
      expect(() => createFrankfurterProvider(options)).toThrow(TypeError)
    },
  )
})
