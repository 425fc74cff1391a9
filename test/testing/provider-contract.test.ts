import { afterEach, describe, expect, it, vi } from 'vitest'

import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { LatestProvider, LatestTable, ProviderContext } from '../../src/index.ts'
import {
  failingProvider,
  fakeClock,
  fakeProviders,
  providerContract,
} from '../../src/testing/index.ts'
import type { ProviderTrial } from '../../src/testing/index.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { BAD_CLIENTS } from './bad-clients.ts'
import { BAD_DAYS, BAD_METHODS, BAD_TABLES, withRates } from './bad-providers.ts'
import * as cases from './provider-cases.ts'
import { historyTrial, latestTrial } from './trial-providers.ts'
import type { Change, Client } from './trial-providers.ts'
import { failuresOf } from './virtual-time.ts'

const now = fakeClock('2026-11-20T18:00:00Z')

/** Providers that do all they must. */
const TRIALS: Record<string, ProviderTrial> = {
  'fakeProviders()': {
    latest: () => fakeProviders().latest,
    history: async () => fakeProviders().history,
  },
  'failingProvider() that does not fail': {
    latest: () => failingProvider('timeout', { times: 0 }),
    history: () => failingProvider('timeout', { times: 0 }),
    now,
  },
  'createExchangeRateApiProvider()': {
    latest: () => createExchangeRateApiProvider(),
    fetch: () => new Response(openErApiPayload({ now: now() })),
    now,
  },
  'createFrankfurterProvider()': {
    history: () => createFrankfurterProvider(),
    fetch({ url }) {
      const [, start = '', end = ''] = /\/v1\/(.+)\.\.(.+)$/.exec(url) ?? []
      return new Response(frankfurterPayload({ start, end, now: now() }))
    },
    now,
  },
  'a treasury': await latestTrial(),
  'an archive': await historyTrial(),
}

/** The name of a case without that of the method. */
function toRule(name: string): string {
  return name.replace(/^\w+\(\) /, '')
}

/** Returns the cases that fail for such a provider, each with its error. */
async function failures(given: ProviderTrial): Promise<Map<string, Error>> {
  const failed = await failuresOf(providerContract(given))
  return new Map(Array.from(failed, ([name, error]) => [toRule(name), error]))
}

async function expectFound(given: ProviderTrial, names: string[]): Promise<void> {
  const failed = await failures(given)
  expect([...failed.keys()]).toEqual(expect.arrayContaining(names))
  for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each(Object.entries(TRIALS))('providerContract() of %s', (_, given) => {
  it.each(providerContract(given))('$name', async (each) => {
    expect(await failuresOf([each])).toEqual(new Map())
  })
})

describe('providerContract()', { timeout: 60_000 }, () => {
  it.each([...BAD_METHODS, ...BAD_TABLES])(
    'finds a provider of latest rates that %s',
    async (_, change, found) => {
      await expectFound(await latestTrial(change), found)
    },
  )

  it.each([...BAD_METHODS, ...BAD_DAYS])(
    'finds a provider of history that %s',
    async (_, change, found) => {
      await expectFound(await historyTrial(change), found)
    },
  )

  it.each(BAD_CLIENTS)('finds a provider that %s', async (_, client, found) => {
    await expectFound(await latestTrial({ client }), found)
    await expectFound(await historyTrial({ client }), found)
  })

  it('finds a provider that makes requests nobody spoke of', async () => {
    const { latest, now } = await latestTrial()
    await expectFound({ latest, now }, [cases.OFFLINE])
    const silent = async (context: ProviderContext): Promise<LatestTable> => {
      context.fetch('https://treasury.example').catch(() => undefined)
      return fakeProviders().latest.fetchLatest(context)
    }
    const attribution = { name: 'Silent', url: 'https://silent.example' }
    const failed = await failures({ latest: () => ({ attribution, fetchLatest: silent }) })
    expect([...failed.keys()]).toEqual([cases.OFFLINE])
  })

  it('finds a provider without requests that is long about it', async () => {
    const { latest } = fakeProviders()
    const late = async (context: ProviderContext): Promise<LatestTable> => {
      await new Promise((resolve) => {
        setTimeout(resolve, 2_000)
      })
      return latest.fetchLatest({ ...context, signal: new AbortController().signal })
    }
    const failed = await failures({ latest: () => ({ ...latest, fetchLatest: late }) })
    expect([...failed.keys()]).toEqual([cases.ENDS])
  })

  it.each(['unreachable', 'timeout', 'malformed', 'bad-rates'] as const)(
    'finds a failing provider: %s',
    async (kind) => {
      const create = () => failingProvider(kind)
      await expectFound({ latest: create, now }, [cases.ACCEPTED])
      await expectFound({ history: create, now }, [cases.ACCEPTED])
    },
  )

  it('finds a failing provider: one-bad-rate', async () => {
    const failed = await failures({ latest: () => failingProvider('one-bad-rate'), now })
    expect([...failed.keys()]).toEqual([cases.DROPPED])
  })

  it('has a bad provider for every case', async () => {
    const found = new Set([
      ...[...BAD_METHODS, ...BAD_TABLES, ...BAD_DAYS].flatMap(([, , names]) => names),
      ...BAD_CLIENTS.flatMap(([, , names]) => names),
      cases.OFFLINE,
      cases.ENDS,
    ])
    const { latest } = await latestTrial()
    const { history, fetch } = await historyTrial()
    const all = [
      ...providerContract({ latest, history, fetch }),
      ...providerContract({ latest, history }),
    ]
    expect([...found].sort()).toEqual([...new Set(all.map(({ name }) => toRule(name)))].sort())
  })

  it('has cases of different names, those of a method where there is one', async () => {
    const { latest, fetch } = await latestTrial()
    const { history } = await historyTrial()
    const namesOf = (given: ProviderTrial): string[] =>
      providerContract(given).map(({ name }) => name)
    const [ofLatest, ofHistory] = [namesOf({ latest, fetch }), namesOf({ history, fetch })]
    expect(namesOf({ latest, history, fetch })).toEqual([...ofLatest, ...ofHistory])
    expect(new Set([...ofLatest, ...ofHistory]).size).toBe(ofLatest.length + ofHistory.length)
    expect(ofLatest.every((name) => name.startsWith('fetchLatest() '))).toBe(true)
    expect(ofHistory.every((name) => name.startsWith('fetchHistory() '))).toBe(true)
  })

  it('has a provider made for each case, when that runs', async () => {
    const create = vi.fn<() => LatestProvider>(() => fakeProviders().latest)
    const all = providerContract({ latest: create })
    expect(create).not.toHaveBeenCalled()
    await failuresOf(all)
    expect(create).toHaveBeenCalledTimes(all.length)
  })

  it('needs a provider', () => {
    expect(() => providerContract({})).toThrow(TypeError)
    expect(() => providerContract({ latest: undefined, fetch })).toThrow(TypeError)
    // @ts-expect-error what makes one, not the provider
    expect(() => providerContract({ latest: fakeProviders().latest })).toThrow(TypeError)
  })

  it('says what was expected', async () => {
    let calls = 0
    const withoutEnd: Change = {
      days: ({ base, days }, { end }) => ({ base, days: days.filter(({ date }) => date !== end) }),
    }
    const failed = await failures(await latestTrial(withRates(() => ({ EUR: -1, GBP: 0 }))))
    expect(failed.get(cases.DROPPED)?.message).toBe(
      'expected what is dropped to be "", got "EUR, GBP"',
    )
    const otherEnd = await failures(await historyTrial(withoutEnd))
    expect(otherEnd.get(cases.ONE_DAY)?.message).toBe(
      "expected the days of fetchHistory({ start: '2026-11-17', end: '2026-11-17' }) to be " +
        '"[\\"2026-11-17\\"]", got "[]"',
    )
    const turned = await failures(
      await latestTrial(withRates((rates) => ({ ZWG: (rates['ZWG'] ?? 0) + calls++ }))),
    )
    expect(turned.get(cases.SAME)?.message).toMatch(
      /^expected the second answer, from \d{4} on, to be ".*\\"ZWG\\":.*, got ".*\\"ZWG\\":/,
    )
    const silent = await failures(await latestTrial({ client: () => () => new Promise(() => {}) }))
    expect(silent.get(cases.ACCEPTED)?.message).toBe(
      'expected fetchLatest() to settle within 4000 ms',
    )
    const down = await failures({ latest: () => failingProvider('unreachable') })
    expect(down.get(cases.ACCEPTED)).toMatchObject({
      message: 'expected fetchLatest() to resolve, but: upstream.example did not answer',
      cause: expect.any(Error),
    })
  })

  it('leaves nothing running behind it, and lets time pass for a provider that never waits', async () => {
    let requests = 0
    const again: Client = (fetch) => async (url, init) => {
      for (;;) {
        requests += 1
        const response = await fetch(url, init).catch(() => undefined)
        if (response) return response
      }
    }
    const all = providerContract(await latestTrial({ client: again }))
    const failed = await failuresOf(all.filter(({ name }) => name.endsWith(cases.UNREACHABLE)))
    expect(failed.size).toBe(1)
    const before = requests
    await vi.advanceTimersByTimeAsync(1_000)
    expect(requests).toBe(before)
    expect(vi.getTimerCount()).toBe(0)
  })
})
