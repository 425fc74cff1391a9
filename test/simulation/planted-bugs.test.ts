import type { Runtime } from '../../src/async.ts'
import type {
  CacheStore,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  RatesHandler,
  RawRequest,
  RawResponse,
} from '../../src/index.ts'
import { reseal } from '../fixtures/envelopes.ts'
import { DAY, HOUR, SECOND } from '../virtual-runtime.ts'
import { simulate } from './simulate.ts'
import type { CreateHandler, HandlerParts, Settings } from './world/fleet.ts'
import { expect, test } from 'vitest'

/** A plausible bug, injected where the handler meets its environment. */
interface PlantedBug {
  breaks: string
  faults?: RegExp
  settings?: Partial<Settings>
  plant(create: CreateHandler): CreateHandler
}

const DAYS = 4
const SEEDS = 40

/** A single process without faults. Bugs override single settings. */
const CALM: Partial<Settings> = {
  hosts: 1,
  faultShare: 0,
  mishapEvery: Infinity,
  skew: 20,
  store: 'remote',
  hasClaims: true,
  maxStale: { latest: 7 * DAY, history: 14 * DAY },
  requests: 150,
  historyDays: 30,
  lateShare: 0,
  holeShare: 0,
  devaluedShare: 0,
  hasWaitUntil: false,
  hookThrows: false,
}

const FLEET: Partial<Settings> = { hosts: 3 }
const RESTARTS: Partial<Settings> = { hosts: 2, mishapEvery: 2 * HOUR }
const COLD_STARTS: Partial<Settings> = { ...RESTARTS, store: 'none', hasClaims: false }

async function findBug({ faults, settings, plant }: PlantedBug) {
  const all = { ...CALM, ...(faults && { faultNames: faults, faultShare: 1 }), ...settings }
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const failure = await simulate({ seed, days: DAYS, settings: all, plant }).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure === undefined) continue
    const message = String(Object(failure).message)
    return { invariant: message.split(':')[0], message }
  }
  return undefined
}

type Plant = PlantedBug['plant']

const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  // Upstream calls.
  'a failed call is repeated immediately': {
    breaks: 'I7',
    faults: /^conn-refused/,
    plant: inFetch((fetch) => async (input, init) => {
      const again = { ...init, signal: new AbortController().signal }
      return fetch(input, init).catch(() => fetch(input, again))
    }),
  },
  'Retry-After of an upstream is ignored': {
    breaks: 'I7',
    faults: /^http-429-seconds: .*min/,
    plant: inResponses(({ headers }) => headers.delete('retry-after')),
  },
  'every failure causes a backoff of six hours': {
    breaks: 'I14',
    faults: /^http-500/,
    plant: inResponses(({ ok, headers }) => {
      if (!ok) headers.set('retry-after', String((6 * HOUR) / SECOND))
    }),
  },

  // Providers.
  'an older publication replaces a newer one': {
    breaks: 'I4',
    faults: /^upstream-http-cache/,
    plant: inLatest((fetchLatest) => {
      let newest: LatestTable | undefined
      return async (context) => {
        const table = await fetchLatest(context)
        const { updatedAt, nextUpdateAt } = newest ?? table
        if (updatedAt > table.updatedAt) return { ...table, updatedAt, nextUpdateAt }
        newest = table
        return table
      }
    }),
  },
  'a publication of next month is accepted as current': {
    breaks: 'I3',
    faults: /a month ahead/,
    plant: inTables((table, { now }) => ({
      ...table,
      updatedAt: Math.min(table.updatedAt, now()),
    })),
  },
  'a table with fewer codes than the previous one is accepted': uncompared(/79 % of the codes/),
  'a table with many moved rates is accepted': uncompared(/a third of the codes/),
  'a jump of one rate is accepted': {
    ...uncompared(/^bad-major: × 1.3/),
    breaks: 'I17',
  },
  'a move is confirmed by the same publication': {
    breaks: 'I17',
    faults: /^bad-major: × 1.3/,
    settings: { lateShare: 1 },
    plant: inLatest((fetchLatest) => ({ previous, ...context }) => {
      const earlier = previous && { updatedAt: previous.updatedAt - 1, publishedAt: 0 }
      return fetchLatest({ ...context, ...(earlier && { previous: { ...previous, ...earlier } }) })
    }),
  },
  'a quarantined rate is served': {
    breaks: 'I3',
    faults: /one-rate-1000x/,
    plant: inTables((table) => ({ ...table, rates: { ...table.rates, ...table.unconfirmed } })),
  },
  'invalid rates are replaced by 1': {
    breaks: 'I3',
    faults: /^rate-(zero|negative|huge): .* one code more/,
    plant: inTables((table) => {
      const filled = Object.entries(table.rates).map(([code, rate]) => [code, rate > 0 ? rate : 1])
      return { ...table, rates: Object.fromEntries(filled) }
    }),
  },
  'a failure is hidden by returning the previous table': {
    breaks: 'I3',
    faults: /^body-truncated/,
    plant: inLatest((fetchLatest) => {
      let last: LatestTable | undefined
      return async (context) => {
        try {
          last = await fetchLatest(context)
        } catch (error) {
          if (!last) throw error
        }
        return last
      }
    }),
  },
  'a good table is rejected': {
    breaks: 'I14',
    plant: inTables(() => {
      throw new Error('planted rejection')
    }),
  },
  'a day of history is skipped': {
    breaks: 'I3',
    plant: inHistory(({ fetchHistory }) => ({
      async fetchHistory(range, context) {
        const { base, days } = await fetchHistory(range, context)
        return { base, days: days.filter((_, index) => index !== days.length - 2) }
      },
    })),
  },
  'days of history are not compared with each other': {
    breaks: 'I3',
    faults: /^history-bad-day/,
    settings: COLD_STARTS,
    plant: inHistory(() => ({ sanityChecks: false })),
  },
  'a quarantined day of history is never fetched again': {
    breaks: 'I3',
    faults: /^history-bad-day/,
    plant: inHistory(({ fetchHistory }) => {
      let newest = ''
      return {
        async fetchHistory(range, context) {
          const { base, days } = await fetchHistory(range, context)
          const added = days.filter(({ date }) => date > newest)
          newest = days.at(-1)?.date ?? newest
          return { base, days: added }
        },
      }
    }),
  },

  // Stores.
  'a stored value is changed and passes all checks': {
    breaks: 'I3',
    settings: RESTARTS,
    plant: inStore((store) => ({
      get: async (key) => {
        const text = await store.get(key)
        if (typeof text !== 'string') return undefined
        return reseal(text, (sealed) =>
          sealed.replaceAll(/"(GBP|INR)":([\d.]+)/g, (_, code, rate) => `"${code}":${rate * 1.1}`),
        )
      },
    })),
  },
  'tables that other processes stored are not read': {
    breaks: 'I13',
    settings: FLEET,
    plant: inStore(() => ({ get: () => undefined })),
  },
  'every process gets the lease': {
    breaks: 'I13',
    settings: FLEET,
    plant: inStore(() => ({ claim: () => true })),
  },
  'every request waits for the store': {
    breaks: 'I6',
    plant: inRequests(async (handler, request, { store }) => {
      await store?.get('rates:v1:latest')
      return handler.answer(request)
    }),
  },

  // The runtime.
  'backoff passes ten times as fast': {
    breaks: 'I7',
    faults: /^http-401/,
    plant: inRuntime(({ monotonic }) => ({ monotonic: () => 10 * monotonic() })),
  },
  'the clock stands still': {
    breaks: 'I8',
    plant: (create) => (createRuntime, parts) => {
      const startedAt = parts.now()
      return create(createRuntime, { ...parts, now: () => startedAt })
    },
  },
  'upstream calls have no time limit': {
    breaks: 'I9',
    faults: /^conn-timeout/,
    plant: inRuntime(({ startTimer }) => ({
      startTimer: (callback, delay) => (delay > 6_000 ? () => {} : startTimer(callback, delay)),
    })),
  },
  'clients wait without a deadline': {
    breaks: 'I6',
    faults: /^conn-timeout/,
    settings: RESTARTS,
    // The time limit of an upstream call is a round number, unlike the rest of a client's deadline.
    plant: inRuntime(({ startTimer }) => ({
      startTimer: (callback, delay) =>
        delay > 4_000 && delay < 5_000 ? () => {} : startTimer(callback, delay),
    })),
  },
  'every timer starts a second timer that is never stopped': {
    breaks: 'I12',
    plant: inRuntime(({ startTimer }) => ({
      startTimer(callback, delay) {
        startTimer(() => {}, DAY)
        return startTimer(callback, delay)
      },
    })),
  },

  // The host.
  'a failed background refresh causes an unhandled rejection': {
    breaks: 'I1',
    faults: /^conn-refused/,
    plant: inParts(({ onEvent, ...parts }) => ({
      ...parts,
      onEvent(event) {
        onEvent(event)
        if (event.type === 'refresh_failed') void Promise.reject(new Error('planted rejection'))
      },
    })),
  },
  'a promise given to waitUntil rejects': {
    breaks: 'I1',
    faults: /^conn-refused/,
    settings: { hasWaitUntil: true },
    plant: inParts(({ waitUntil, ...parts }) => ({
      ...parts,
      waitUntil: (work) => waitUntil?.(work.then(() => Promise.reject(new Error('too late')))),
    })),
  },
  'data are never refreshed': {
    breaks: 'I14',
    settings: { calmFrom: 0 },
    plant: (create) => (createRuntime, parts) => {
      let loads = 0
      const onEvent: HandlerParts['onEvent'] = (event) => {
        parts.onEvent(event)
        if (event.type === 'upstream_response' && (loads += 1) === 2) {
          void Promise.resolve().then(handler.close)
        }
      }
      const handler = create(createRuntime, { ...parts, onEvent })
      return handler
    },
  },
  'close() starts again': {
    breaks: 'I12',
    settings: { ...COLD_STARTS, hosts: 1, mishapEvery: HOUR / 4, requests: 3_000 },
    plant: (create) => (createRuntime, parts) => {
      let handler = create(createRuntime, parts)
      return Object.assign(
        altered(handler, (request) => handler.answer(request)),
        {
          close() {
            handler.close()
            handler = create(createRuntime, parts)
          },
        },
      )
    },
  },
  'two handlers of one process call the upstream independently': {
    breaks: 'I7',
    settings: { store: 'none', hasClaims: false },
    plant: (create) => (createRuntime, parts) => {
      const [one, other] = [create(createRuntime, parts), create(createRuntime, parts)]
      let turn = 0
      return altered(one, (request) => ((turn += 1) % 2 === 0 ? one : other).answer(request))
    },
  },

  // Responses.
  'a request rejects': {
    breaks: 'I1',
    plant: inHandlerResponses(({ target }, response) => {
      if (target.includes('JPY')) throw new Error('planted failure')
      return response
    }),
  },
  'results are rounded to whole numbers': {
    breaks: 'I2',
    plant: inBodies((body) =>
      body.replace(/"result":([\d.]+)/, (_, r) => `"result":${Math.ceil(r)}`),
    ),
  },
  'the response names the base of the table instead of the requested base': {
    breaks: 'I15',
    plant: inBodies((body) => body.replace(/"base":"..."/, '"base":"USD"')),
  },
  'every period is a week': {
    breaks: 'I3',
    plant: inRequests(async (handler, request) => {
      const [, period] = /period=(\w+)/.exec(request.target) ?? []
      if (period === undefined) return handler.answer(request)
      const target = request.target.replace(period, '1W')
      const response = await handler.answer({ ...request, target })
      const body = String(response.body).replace('"period":"1W"', `"period":"${period}"`)
      return { ...response, body }
    }),
  },
  'response bodies are cached beyond their data': {
    breaks: 'I3',
    plant: inStatefulResponses(() => {
      const bodies = new Map<string, RawResponse['body']>()
      return ({ target }, response) => {
        if (response.status !== 200 || !/latest|convert/.test(target)) return response
        const body = bodies.get(target) ?? response.body
        bodies.set(target, body)
        return { ...response, body }
      }
    }),
  },
  'Last-Modified always names the first publication': {
    breaks: 'I4',
    plant: inStatefulResponses(() => {
      let first: string | undefined
      return ({ header }, response) => {
        if (response.status === 200) first ??= headerOf(response, 'last-modified')
        if (response.status !== 304 || header('if-none-match') === null) return response
        return withHeaders(response, { 'last-modified': first ?? '' })
      }
    }),
  },
  'the last response is served at any age': {
    breaks: 'I5',
    faults: /^conn-refused/,
    settings: { maxStale: { latest: HOUR, history: DAY }, requests: 400 },
    plant: inStatefulResponses(() => {
      let last: RawResponse | undefined
      return ({ target }, response) => {
        if (!target.startsWith('/api/v1/convert')) return response
        if (response.status === 200)
          last = withHeaders(response, { 'cache-status': 'rates; fwd=miss' })
        return response.status === 502 ? (last ?? response) : response
      }
    }),
  },
  'overdue data are answered with 502': {
    breaks: 'I5',
    settings: { lateShare: 1 },
    plant: inHandlerResponses((_, response) => (isStale(response) ? UNAVAILABLE : response)),
  },
  'overdue data are labelled fresh': {
    breaks: 'I8',
    settings: { lateShare: 1 },
    plant: inHandlerResponses((_, response) =>
      isStale(response)
        ? withHeaders(response, { 'cache-status': 'rates; hit; ttl=600' })
        : response,
    ),
  },
  'errors may be cached': {
    breaks: 'I10',
    plant: inHandlerResponses((_, response) =>
      response.status >= 400 ? withHeaders(response, { 'cache-control': 'max-age=60' }) : response,
    ),
  },
  'a 502 has no valid Retry-After': {
    breaks: 'I10',
    faults: /^conn-refused/,
    settings: COLD_STARTS,
    plant: inHandlerResponses((_, response) =>
      response.status === 502 ? withHeaders(response, { 'retry-after': 'soon' }) : response,
    ),
  },
  'a currency without a current rate is answered with 400': {
    breaks: 'I18',
    faults: /^bad-major: missing/,
    settings: { maxStale: { latest: HOUR, history: DAY } },
    plant: inStatefulResponses(() => {
      let isLoaded = false
      return ({ target }, response) => {
        if (!target.startsWith('/api/v1/convert')) return response
        isLoaded ||= response.status === 200
        return isLoaded && response.status === 502 ? { ...response, status: 400 } : response
      }
    }),
  },
  'a currency that the last publication lacks is answered with 400': {
    breaks: 'I18',
    faults: /^bad-major: null/,
    plant: inRequests(async (handler, request) => {
      const response = await handler.answer(request)
      if (!/convert.*EUR/.test(request.target) || response.status !== 200) return response
      const { older = {} } = await handler.rates.latest()
      return 'EUR' in older ? { ...UNAVAILABLE, status: 400 } : response
    }),
  },
  'errors contain their cause': leak(({ status }) => status === 502),
  'the status contains the cause of a failure': leak((_, target) => target.endsWith('/status')),
  'an abort listener is leaked per client': {
    breaks: 'I12',
    plant: inHandlerResponses(({ signal }, response) => {
      signal?.addEventListener('abort', () => {})
      return response
    }),
  },
}

const CHANCE: Plant = inRuntime(() => ({ random: () => Math.random() }))

const UNAVAILABLE: RawResponse = {
  status: 502,
  headers: [
    ['cache-control', 'no-store'],
    ['retry-after', '1'],
  ],
  body: null,
  matched: true,
}

function uncompared(faults: RegExp): PlantedBug {
  const plant = inLatest(
    (fetchLatest) =>
      ({ fetch, signal, now }) =>
        fetchLatest({ fetch, signal, now }),
  )
  return { breaks: 'I3', faults, plant }
}

function leak(isLeaky: (response: RawResponse, target: string) => boolean): PlantedBug {
  return {
    breaks: 'I11',
    faults: /^conn-refused/,
    settings: COLD_STARTS,
    plant: (create) => (createRuntime, parts) => {
      let cause = ''
      const onEvent: HandlerParts['onEvent'] = (event) => {
        parts.onEvent(event)
        for (let error = Object(event).error; error; error = error.cause) cause += String(error)
      }
      const handler = create(createRuntime, { ...parts, onEvent })
      return altered(handler, async (request) => {
        const response = await handler.answer(request)
        return isLeaky(response, request.target)
          ? { ...response, body: String(response.body) + cause }
          : response
      })
    },
  }
}

function inParts(alter: (parts: HandlerParts) => HandlerParts): Plant {
  return (create) => (createRuntime, parts) => create(createRuntime, alter(parts))
}

function inFetch(alter: (fetch: HandlerParts['fetch']) => HandlerParts['fetch']): Plant {
  return inParts((parts) => ({ ...parts, fetch: alter(parts.fetch) }))
}

function inResponses(alter: (response: Response) => void): Plant {
  return inFetch((fetch) => async (input, init) => {
    const response = await fetch(input, init)
    alter(response)
    return response
  })
}

type FetchLatest = LatestProvider['fetchLatest']

function inLatest(alter: (fetchLatest: FetchLatest) => FetchLatest): Plant {
  return inParts(({ providers: { latest, history }, ...parts }) => {
    const fetchLatest = alter(latest.fetchLatest)
    return { ...parts, providers: { latest: { ...latest, fetchLatest }, history } }
  })
}

function inHistory(alter: (history: HistoryProvider) => Partial<HistoryProvider>): Plant {
  return inParts(({ providers: { latest, history }, ...parts }) => {
    return { ...parts, providers: { latest, history: { ...history, ...alter(history) } } }
  })
}

function inTables(
  alter: (table: LatestTable, context: Parameters<FetchLatest>[0]) => LatestTable,
): Plant {
  return inLatest((fetchLatest) => async (context) => alter(await fetchLatest(context), context))
}

function inStore(alter: (store: CacheStore) => Partial<CacheStore>): Plant {
  return inParts(({ store, ...parts }) => ({
    ...parts,
    store: store && { ...store, ...alter(store) },
  }))
}

function inRuntime(alter: (runtime: Runtime) => Partial<Runtime>): Plant {
  return (create) => (createRuntime, parts) =>
    create((now) => {
      const runtime = createRuntime(now)
      return { ...runtime, ...alter(runtime) }
    }, parts)
}

function inRequests(
  respond: (
    handler: RatesHandler,
    request: RawRequest,
    parts: HandlerParts,
  ) => Promise<RawResponse>,
): Plant {
  return (create) => (createRuntime, parts) => {
    const handler = create(createRuntime, parts)
    return altered(handler, (request) => respond(handler, request, parts))
  }
}

type AlterResponse = (request: RawRequest, response: RawResponse) => RawResponse

function inHandlerResponses(alter: AlterResponse): Plant {
  return inStatefulResponses(() => alter)
}

function inStatefulResponses(start: () => AlterResponse): Plant {
  return (create) => (createRuntime, parts) => {
    const handler = create(createRuntime, parts)
    const alter = start()
    return altered(handler, async (request) => alter(request, await handler.answer(request)))
  }
}

function inBodies(alter: (body: string) => string): Plant {
  return inHandlerResponses((_, response) =>
    typeof response.body === 'string' ? { ...response, body: alter(response.body) } : response,
  )
}

function altered(handler: RatesHandler, answer: RatesHandler['answer']): RatesHandler {
  return Object.assign((request: Request) => handler(request), handler, { answer })
}

function isStale(response: RawResponse): boolean {
  return headerOf(response, 'cache-status')?.includes('stale') === true
}

function headerOf({ headers }: RawResponse, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

function withHeaders(response: RawResponse, changed: Record<string, string>): RawResponse {
  const kept = response.headers.filter(([name]) => !Object.hasOwn(changed, name))
  return { ...response, headers: [...kept, ...Object.entries(changed)] }
}

/** Time limit in ms. The slowest bug takes a second. */
const TIMEOUT = 120_000

test.each(Object.entries(PLANTED_BUGS))('detects that %s', { timeout: TIMEOUT }, async (_, bug) => {
  const found = await findBug(bug)
  expect(found).toMatchObject({ invariant: bug.breaks })
  expect(found?.message).toMatch(
    /seed \d+, day \d+ [\d:.]+.*npm run simulate -- --seed \d+ --days \d+ .*--trace/,
  )
})

test('detects by the digest that a run uses randomness other than that of its seed', async () => {
  const digest = async (): Promise<string> =>
    (await simulate({ seed: 2, days: 3, plant: CHANCE })).digest
  expect(await digest()).not.toBe(await digest())
})

test('breaks every invariant with a planted bug', () => {
  const broken = new Set(['I16', ...Object.values(PLANTED_BUGS).map(({ breaks }) => breaks)])
  expect(broken).toEqual(new Set(Array.from({ length: 18 }, (_, index) => `I${index + 1}`)))
})
