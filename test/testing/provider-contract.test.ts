import { afterEach, describe, expect, it, vi } from 'vitest'

import type { LatestProvider, LatestTable, ProviderContext } from '../../src/index.ts'
import {
  failingProvider,
  fakeClock,
  fakeProviders,
  providerContract,
} from '../../src/testing/index.ts'
import type { ProviderContractOptions } from '../../src/testing/index.ts'
import {
  BAD_CLIENTS,
  BAD_DAYS,
  BAD_METHODS,
  BAD_TABLES,
  DAILY,
  withRates,
} from './bad-providers.ts'
import { historyTrial, latestTrial } from './trial-providers.ts'
import type { Client } from './trial-providers.ts'
import { failuresOf } from './virtual-time.ts'

const now = fakeClock('2026-11-20T18:00:00Z')

// Names of cases.
const ACCEPTED = 'resolves to data that the handler accepts'
const DROPPED = 'resolves to no rates or days that the handler would drop'
const OFFLINE = 'sends no requests, because the contract has no fetch'
const ENDS = 'settles within 1 s after its signal aborts'

const { latest: fake } = fakeProviders()

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
  'an archive with a table per day': await historyTrial({ publication: DAILY, maxDays: 1 }),
  'an archive of a week at once': await historyTrial({ publication: DAILY, maxDays: 7 }),
}

function toRule(name: string): string {
  return name.replace(/^\w+\(\) /, '')
}

async function failures(given: ProviderContractOptions): Promise<Map<string, Error>> {
  const failed = await failuresOf(providerContract(given))
  return new Map(Array.from(failed, ([name, error]) => [toRule(name), error]))
}

async function expectDetected(given: ProviderContractOptions, names: string[]): Promise<void> {
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
    'detects a provider of latest rates that $what',
    async ({ how, detectedBy }) => expectDetected(await latestTrial(how), detectedBy),
  )

  it.each([...BAD_METHODS, ...BAD_DAYS])(
    'detects a provider of history that $what',
    async ({ how, detectedBy }) => expectDetected(await historyTrial(how), detectedBy),
  )

  it.each(BAD_CLIENTS)('detects a provider that $what', async ({ how: client, detectedBy }) => {
    await expectDetected(await latestTrial({ client }), detectedBy)
    await expectDetected(await historyTrial({ client }), detectedBy)
  })

  it('detects a provider that sends requests without a fetch in the options', async () => {
    const { latest, now } = await latestTrial()
    await expectDetected({ latest, now }, [OFFLINE])
    const silent = async (context: ProviderContext): Promise<LatestTable> => {
      context.fetch('https://treasury.example').catch(() => undefined)
      return fake.fetchLatest(context)
    }
    const failed = await failures({ latest: () => ({ ...fake, fetchLatest: silent }) })
    expect([...failed.keys()]).toEqual([OFFLINE])
  })

  it('detects a provider without requests that takes too long', async () => {
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
    'detects a failing provider: %s',
    async (kind) => {
      const create = () => failingProvider(kind)
      await expectDetected({ latest: create, now }, [ACCEPTED])
      await expectDetected({ history: create, now }, [ACCEPTED])
    },
  )

  it('detects a failing provider: one-bad-rate', async () => {
    const failed = await failures({ latest: () => failingProvider('one-bad-rate'), now })
    expect([...failed.keys()]).toEqual([DROPPED])
  })

  it('has a bad provider for every case', async () => {
    const listed = [...BAD_METHODS, ...BAD_TABLES, ...BAD_DAYS, ...BAD_CLIENTS]
    const detecting = new Set([...listed.flatMap((each) => each.detectedBy), OFFLINE, ENDS])
    const { latest } = await latestTrial()
    const { history, fetch } = await historyTrial()
    const names = [
      { latest, history, fetch },
      { latest, history },
    ].flatMap(namesOf)
    expect(detecting).toEqual(new Set(names.map(toRule)))
  })

  it('has distinct names that begin with the method, for the given methods only', async () => {
    const { latest, fetch } = await latestTrial()
    const { history } = await historyTrial()
    const [ofLatest, ofHistory] = [namesOf({ latest, fetch }), namesOf({ history, fetch })]
    expect(namesOf({ latest, history, fetch })).toEqual([...ofLatest, ...ofHistory])
    expect(new Set([...ofLatest, ...ofHistory]).size).toBe(ofLatest.length + ofHistory.length)
    expect(ofLatest.every((name) => name.startsWith('fetchLatest() '))).toBe(true)
    expect(ofHistory.every((name) => name.startsWith('fetchHistory() '))).toBe(true)
  })

  it('creates one provider per case, when the case runs', async () => {
    const create = vi.fn<() => LatestProvider>(() => fake)
    const all = providerContract({ latest: create })
    expect(create).not.toHaveBeenCalled()
    await failuresOf(all)
    expect(create).toHaveBeenCalledTimes(all.length)
  })

  it('throws without a function that creates a provider', () => {
    expect(() => providerContract({})).toThrow(TypeError)
    expect(() => providerContract({ latest: undefined, fetch })).toThrow(TypeError)
    // @ts-expect-error a provider instead of a function that creates one
    expect(() => providerContract({ latest: fake })).toThrow(TypeError)
  })

  it('rejects with the expected and the actual value', async () => {
    const failed = await failures(await latestTrial(withRates(() => ({ EUR: -1, GBP: 0 }))))
    expect(failed.get(DROPPED)?.message).toMatch(/^expected .*dropped.*, got "EUR, GBP"$/)
    const withoutEnd = BAD_DAYS.find(({ what }) => what === 'omits the end')?.how
    const otherEnd = await failures(await historyTrial(withoutEnd))
    const range = "fetchHistory({ start: '2026-11-17', end: '2026-11-17' })"
    const message = otherEnd.get('returns a single requested day')?.message
    expect(message).toContain(range)
    expect(message).toMatch(/ "\[\\"2026-11-17\\"\]", got "\[\]"$/)
    let calls = 0
    const counting = await failures(await latestTrial(withRates(() => ({ ZWG: (calls += 1) }))))
    expect(counting.get('resolves to the same data on a second call')?.message).toMatch(
      /^expected .* \d{4} .* ".*\\"ZWG\\":.*, got ".*\\"ZWG\\":/,
    )
    const silent = await failures(await latestTrial({ client: () => () => new Promise(() => {}) }))
    expect(silent.get(ACCEPTED)?.message).toMatch(/^expected fetchLatest\(\) .* within 4000 ms$/)
    const down = await failures({ latest: () => failingProvider('unreachable') })
    expect(down.get(ACCEPTED)).toMatchObject({
      message: expect.stringMatching(/^expected fetchLatest\(\) .*: upstream\.example /),
      cause: expect.any(Error),
    })
  })

  it('stops a provider that retries endlessly, and leaves no timers', async () => {
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
      all.filter(({ name }) => name.endsWith('rejects if the upstream cannot be reached')),
    )
    expect(failed.size).toBe(1)
    const before = requests
    await vi.advanceTimersByTimeAsync(1_000)
    expect(requests).toBe(before)
    expect(vi.getTimerCount()).toBe(0)
  })
})
