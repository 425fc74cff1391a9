import { afterEach, describe, expect, it, vi } from 'vitest'

import type { LatestProvider, LatestTable, ProviderContext } from '../../src/index.ts'
import {
  failingProvider,
  fakeClock,
  fakeProviders,
  providerContract,
} from '../../src/testing/index.ts'
import type { ProviderContractOptions } from '../../src/testing/index.ts'
import { BAD_CLIENTS, BAD_DAYS, BAD_METHODS, BAD_TABLES, withRates } from './bad-providers.ts'
import { historyTrial, latestTrial } from './trial-providers.ts'
import type { Client } from './trial-providers.ts'
import { failuresOf } from './virtual-time.ts'

const now = fakeClock('2026-11-20T18:00:00Z')

// Cases that a test below names.
const ACCEPTED = 'resolves to what the handler accepts'
const DROPPED = 'has nothing in it that the handler would drop'
const OFFLINE = 'makes no requests, as no fetch was given'
const ENDS = 'ends within a second of its signal aborting'

const { latest: fake } = fakeProviders()

/** Providers that do all they must. */
const TRIALS: Record<string, ProviderContractOptions> = {
  'fakeProviders()': {
    latest: () => fakeProviders().latest,
    history: async () => fakeProviders().history,
  },
  'failingProvider() that does not fail': {
    latest: () => failingProvider('timeout', { times: 0 }),
    history: () => failingProvider('timeout', { times: 0 }),
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
async function failures(given: ProviderContractOptions): Promise<Map<string, Error>> {
  const failed = await failuresOf(providerContract(given))
  return new Map(Array.from(failed, ([name, error]) => [toRule(name), error]))
}

async function expectFound(given: ProviderContractOptions, names: string[]): Promise<void> {
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

function namesOf(given: ProviderContractOptions): string[] {
  return providerContract(given).map(({ name }) => name)
}

describe('providerContract()', { timeout: 60_000 }, () => {
  it.each([...BAD_METHODS, ...BAD_TABLES])(
    'finds a provider of latest rates that $what',
    async ({ how, found }) => expectFound(await latestTrial(how), found),
  )

  it.each([...BAD_METHODS, ...BAD_DAYS])(
    'finds a provider of history that $what',
    async ({ how, found }) => expectFound(await historyTrial(how), found),
  )

  it.each(BAD_CLIENTS)('finds a provider that $what', async ({ how: client, found }) => {
    await expectFound(await latestTrial({ client }), found)
    await expectFound(await historyTrial({ client }), found)
  })

  it('finds a provider that makes requests nobody spoke of', async () => {
    const { latest, now } = await latestTrial()
    await expectFound({ latest, now }, [OFFLINE])
    const silent = async (context: ProviderContext): Promise<LatestTable> => {
      context.fetch('https://treasury.example').catch(() => undefined)
      return fake.fetchLatest(context)
    }
    const failed = await failures({ latest: () => ({ ...fake, fetchLatest: silent }) })
    expect([...failed.keys()]).toEqual([OFFLINE])
  })

  it('finds a provider without requests that is long about it', async () => {
    const late = async (context: ProviderContext): Promise<LatestTable> => {
      await new Promise((resolve) => {
        setTimeout(resolve, 2_000)
      })
      return fake.fetchLatest({ ...context, signal: new AbortController().signal })
    }
    const failed = await failures({ latest: () => ({ ...fake, fetchLatest: late }) })
    expect([...failed.keys()]).toEqual([ENDS])
  })

  it.each(['unreachable', 'timeout', 'malformed', 'bad-rates'] as const)(
    'finds a failing provider: %s',
    async (kind) => {
      const create = () => failingProvider(kind)
      await expectFound({ latest: create, now }, [ACCEPTED])
      await expectFound({ history: create, now }, [ACCEPTED])
    },
  )

  it('finds a failing provider: one-bad-rate', async () => {
    const failed = await failures({ latest: () => failingProvider('one-bad-rate'), now })
    expect([...failed.keys()]).toEqual([DROPPED])
  })

  it('has a bad provider for every case', async () => {
    const listed = [...BAD_METHODS, ...BAD_TABLES, ...BAD_DAYS, ...BAD_CLIENTS]
    const found = new Set([...listed.flatMap((each) => each.found), OFFLINE, ENDS])
    const { latest } = await latestTrial()
    const { history, fetch } = await historyTrial()
    const names = [
      { latest, history, fetch },
      { latest, history },
    ].flatMap(namesOf)
    expect(found).toEqual(new Set(names.map(toRule)))
  })

  it('has cases of different names, those of a method where there is one', async () => {
    const { latest, fetch } = await latestTrial()
    const { history } = await historyTrial()
    const [ofLatest, ofHistory] = [namesOf({ latest, fetch }), namesOf({ history, fetch })]
    expect(namesOf({ latest, history, fetch })).toEqual([...ofLatest, ...ofHistory])
    expect(new Set([...ofLatest, ...ofHistory]).size).toBe(ofLatest.length + ofHistory.length)
    expect(ofLatest.every((name) => name.startsWith('fetchLatest() '))).toBe(true)
    expect(ofHistory.every((name) => name.startsWith('fetchHistory() '))).toBe(true)
  })

  it('has a provider made for each case, when that runs', async () => {
    const create = vi.fn<() => LatestProvider>(() => fake)
    const all = providerContract({ latest: create })
    expect(create).not.toHaveBeenCalled()
    await failuresOf(all)
    expect(create).toHaveBeenCalledTimes(all.length)
  })

  it('needs a provider', () => {
    expect(() => providerContract({})).toThrow(TypeError)
    expect(() => providerContract({ latest: undefined, fetch })).toThrow(TypeError)
    // @ts-expect-error what makes one, not the provider
    expect(() => providerContract({ latest: fake })).toThrow(TypeError)
  })

  it('says what was expected', async () => {
    const failed = await failures(await latestTrial(withRates(() => ({ EUR: -1, GBP: 0 }))))
    expect(failed.get(DROPPED)?.message).toBe('expected what is dropped to be "", got "EUR, GBP"')
    const withoutEnd = BAD_DAYS.find(({ what }) => what === 'leaves out the end')?.how
    const otherEnd = await failures(await historyTrial(withoutEnd))
    expect(otherEnd.get('has the one day that was asked for')?.message).toBe(
      "expected the days of fetchHistory({ start: '2026-11-17', end: '2026-11-17' }) to be " +
        '"[\\"2026-11-17\\"]", got "[]"',
    )
    let calls = 0
    const turned = await failures(await latestTrial(withRates(() => ({ ZWG: (calls += 1) }))))
    expect(turned.get('gives the same when it is asked again')?.message).toMatch(
      /^expected the second answer, from \d{4} on, to be ".*\\"ZWG\\":.*, got ".*\\"ZWG\\":/,
    )
    const silent = await failures(await latestTrial({ client: () => () => new Promise(() => {}) }))
    expect(silent.get(ACCEPTED)?.message).toBe('expected fetchLatest() to settle within 4000 ms')
    const down = await failures({ latest: () => failingProvider('unreachable') })
    expect(down.get(ACCEPTED)).toMatchObject({
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
    const failed = await failuresOf(
      all.filter(({ name }) => name.endsWith('fails when its upstream cannot be reached')),
    )
    expect(failed.size).toBe(1)
    const before = requests
    await vi.advanceTimersByTimeAsync(1_000)
    expect(requests).toBe(before)
    expect(vi.getTimerCount()).toBe(0)
  })
})
