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
  historyTrial,
  latestTrial,
  withRates,
} from './trial-providers.ts'
import type { Client } from './trial-providers.ts'
import { failuresOf } from './virtual-time.ts'

const now = fakeClock('2026-11-20T18:00:00Z')

// Names of cases.
const ACCEPTED = 'resolves to data that the handler accepts'
const DROPPED = 'resolves to no rates or days that the handler would drop'
const OFFLINE = 'sends no requests, because the contract has no fetch'
const ENDS = 'settles within 1 s after its signal aborts'

const { latest: fake, history: fakeHistory } = fakeProviders()

const TRIALS: Record<string, ProviderContractOptions> = {
  'fake providers': { latest: () => fake, history: async () => fakeHistory },
  'a failing provider that does not fail': {
    latest: () => failingProvider('timeout', { times: 0 }),
    history: () => failingProvider('timeout', { times: 0 }),
    now,
  },
  'a treasury': await latestTrial(),
  'an archive': await historyTrial(),
  'an archive with a table per day': await historyTrial({ publication: DAILY, maxDays: 1 }),
  'an archive of a week at once': await historyTrial({ publication: DAILY, maxDays: 7 }),
}

const toRule = (name: string): string => name.replace(/^\w+\(\) /, '')

async function failures(given: ProviderContractOptions): Promise<Map<string, Error>> {
  const failed = await failuresOf(providerContract(given))
  return new Map(Array.from(failed, ([name, error]) => [toRule(name), error]))
}

async function expectDetected(given: ProviderContractOptions, names: string[]): Promise<void> {
  const failed = await failures(given)
  expect([...failed.keys()]).toEqual(expect.arrayContaining(names))
  for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
}

const namesOf = (given: ProviderContractOptions): string[] =>
  providerContract(given).map(({ name }) => name)

afterEach(() => void vi.useRealTimers())

describe('providerContract()', { timeout: 60_000 }, () => {
  it.each(Object.entries(TRIALS))('passes for %s', async (_, given) => {
    expect(await failures(given)).toEqual(new Map())
  })

  it.each([...BAD_METHODS, ...BAD_TABLES])(
    'detects a provider of latest rates that %s',
    async (_what, how, ...detectedBy) => expectDetected(await latestTrial(how), detectedBy),
  )

  it.each([...BAD_METHODS, ...BAD_DAYS])(
    'detects a provider of history that %s',
    async (_what, how, ...detectedBy) => expectDetected(await historyTrial(how), detectedBy),
  )

  it.each(BAD_CLIENTS)('detects a provider that %s', async (_what, client, ...detectedBy) => {
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
      await new Promise((resolve) => void setTimeout(resolve, 2_000))
      return fake.fetchLatest({ ...context, signal: new AbortController().signal })
    }
    const failed = await failures({ latest: () => ({ ...fake, fetchLatest: late }) })
    expect([...failed.keys()]).toEqual([ENDS])
  })

  it('detects failing providers', async () => {
    for (const kind of ['unreachable', 'timeout', 'malformed', 'bad-rates'] as const) {
      const create = () => failingProvider(kind)
      await expectDetected({ latest: create, now }, [ACCEPTED])
      await expectDetected({ history: create, now }, [ACCEPTED])
    }
    const failed = await failures({ latest: () => failingProvider('one-bad-rate'), now })
    expect([...failed.keys()]).toEqual([DROPPED])
  })

  it('has distinct names that begin with the method, each with a bad provider above', async () => {
    const { latest, fetch } = await latestTrial()
    const { history } = await historyTrial()
    const [ofLatest, ofHistory] = [namesOf({ latest, fetch }), namesOf({ history, fetch })]
    const all = namesOf({ latest, history, fetch })
    expect(all).toEqual([...ofLatest, ...ofHistory])
    expect(new Set(all).size).toBe(all.length)
    expect(ofLatest.filter((name) => !name.startsWith('fetchLatest() '))).toEqual([])
    expect(ofHistory.filter((name) => !name.startsWith('fetchHistory() '))).toEqual([])
    const detecting = [...BAD_METHODS, ...BAD_TABLES, ...BAD_DAYS, ...BAD_CLIENTS].flatMap(
      ([, , ...detectedBy]) => detectedBy,
    )
    const rules = [...all, ...namesOf({ latest, history })].map(toRule)
    expect(new Set([...detecting, OFFLINE, ENDS])).toEqual(new Set(rules))
  })

  it('creates one provider per case, when the case runs', async () => {
    const create = vi.fn<() => LatestProvider>(() => fake)
    const all = providerContract({ latest: create })
    expect(create).not.toHaveBeenCalled()
    await failuresOf(all)
    expect(create).toHaveBeenCalledTimes(all.length)
  })

  it('throws without a function that creates a provider', () => {
    for (const given of [{}, { latest: undefined, fetch }, { latest: fake }])
      expect(() => Reflect.apply(providerContract, undefined, [given])).toThrow(TypeError)
  })

  it('rejects with the expected and the actual value', async () => {
    const failed = await failures(await latestTrial(withRates(() => ({ EUR: -1, GBP: 0 }))))
    expect(failed.get(DROPPED)?.message).toMatch(/^expected .*dropped.*, got "EUR, GBP"$/)
    const [, withoutEnd] = BAD_DAYS.find(([what]) => what === 'omits the end') ?? []
    const message = (await failures(await historyTrial(withoutEnd))).get(
      'returns a single requested day',
    )?.message
    expect(message).toContain("fetchHistory({ start: '2026-11-17', end: '2026-11-17' })")
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
    const name = 'rejects if the upstream cannot be reached'
    expect((await failuresOf(all.filter((each) => each.name.endsWith(name)))).size).toBe(1)
    const before = requests
    await vi.advanceTimersByTimeAsync(1_000)
    expect([requests, vi.getTimerCount()]).toEqual([before, 0])
  })
})
