import type { Runtime } from '../../src/async.ts'
import type {
  CacheStore,
  HistoryDays,
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
import { bodyInOnePart } from '../whole-body.ts'

/** A plausible bug. */
interface PlantedBug {
  breaks: string
  settings: Partial<Settings>
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
  banks: [],
}

const FLEET: Partial<Settings> = { hosts: 3 }
const RESTARTS: Partial<Settings> = { hosts: 2, mishapEvery: 2 * HOUR }
const COLD_STARTS: Partial<Settings> = { ...RESTARTS, store: 'none', hasClaims: false }

async function findBug({ settings, plant }: PlantedBug) {
  const all = { ...CALM, ...settings }
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    try {
      await simulate({ seed, days: DAYS, settings: all, plant })
    } catch (failure) {
      const message = String(Object(failure).message)
      return { invariant: message.split(':')[0], message }
    }
  }
  return undefined
}

/** Plants a bug where the handler meets its environment. */
class Planting {
  readonly inCreation: (plant: PlantedBug['plant']) => PlantedBug

  constructor(inCreation: Planting['inCreation']) {
    this.inCreation = inCreation
  }

  inParts = (alter: (parts: HandlerParts) => Partial<HandlerParts>) =>
    this.inCreation(
      (create) => (createRuntime, parts) => create(createRuntime, { ...parts, ...alter(parts) }),
    )

  inFetch = (alter: (fetch: HandlerParts['fetch']) => HandlerParts['fetch']) =>
    this.inParts(({ fetch }) => ({ fetch: alter(fetch) }))

  inFetched = (alter: (response: Response) => void) =>
    this.inFetch((fetch) => async (input, init) => {
      const response = await fetch(input, init)
      alter(response)
      return response
    })

  inProvider = (alter: (latest: LatestProvider) => Partial<LatestProvider>) =>
    this.inParts(({ providers: { latest, history } }) => {
      return { providers: { latest: { ...latest, ...alter(latest) }, history } }
    })

  inLatest = (alter: (fetchLatest: FetchLatest) => FetchLatest) =>
    this.inProvider(({ fetchLatest }) => ({ fetchLatest: alter(fetchLatest) }))

  inTables = (alter: (table: LatestTable, context: Parameters<FetchLatest>[0]) => LatestTable) =>
    this.inLatest((fetchLatest) => async (context) => alter(await fetchLatest(context), context))

  inHistory = (alter: (history: HistoryProvider) => Partial<HistoryProvider>) =>
    this.inParts(
      ({
        providers: {
          latest,
          history: [first, ...banks],
        },
      }) => {
        return { providers: { latest, history: [{ ...first, ...alter(first) }, ...banks] } }
      },
    )

  inStore = (alter: (store: CacheStore) => Partial<CacheStore>) =>
    this.inParts(({ store }) => ({ store: store && { ...store, ...alter(store) } }))

  inRuntime = (alter: (runtime: Runtime) => Partial<Runtime>) =>
    this.inCreation((create) => (createRuntime, parts) => {
      const createAltered: typeof createRuntime = (now) => {
        const runtime = createRuntime(now)
        return { ...runtime, ...alter(runtime) }
      }
      return create(createAltered, parts)
    })

  inRequests = (respond: Respond) =>
    this.inCreation((create) => (createRuntime, parts) => {
      const handler = create(createRuntime, parts)
      return altered(handler, (request) => respond(handler, request, parts))
    })

  inEveryResponse = (start: () => AlterResponse) =>
    this.inCreation((create) => (createRuntime, parts) => {
      const handler = create(createRuntime, parts)
      const alter = start()
      return altered(handler, async (request) => alter(request, await handler.answer(request)))
    })

  inResponses = (alter: AlterResponse) => this.inEveryResponse(() => alter)

  inBodies = (alter: (body: string) => string) =>
    this.inResponses((_, response) =>
      typeof response.body === 'string' ? { ...response, body: alter(response.body) } : response,
    )
}

type FetchLatest = LatestProvider['fetchLatest']
type AlterResponse = (request: RawRequest, response: RawResponse) => RawResponse
type Respond = (
  handler: RatesHandler,
  request: RawRequest,
  parts: HandlerParts,
) => Promise<RawResponse>

/** A bug that breaks `invariant`, with faults of these names or with these settings. */
function breaks(invariant: string, ...conditions: (RegExp | Partial<Settings>)[]): Planting {
  const settings = conditions.map((each) =>
    each instanceof RegExp ? { faultNames: each, faultShare: 1 } : each,
  )
  return new Planting((plant) => {
    return { breaks: invariant, settings: Object.assign({}, ...settings), plant }
  })
}

const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  // Upstream calls.
  'a failed call is repeated immediately': breaks('I7', /^conn-refused/).inFetch(
    (fetch) => async (input, init) => {
      const again = { ...init, signal: new AbortController().signal }
      return fetch(input, init).catch(() => fetch(input, again))
    },
  ),
  'Retry-After of an upstream is ignored': breaks('I7', /^http-429-seconds: .*min/).inFetched(
    ({ headers }) => headers.delete('retry-after'),
  ),
  'every failure causes a backoff of six hours': breaks('I14', /^http-500/).inFetched(
    ({ ok, headers }) => {
      if (!ok) headers.set('retry-after', String((6 * HOUR) / SECOND))
    },
  ),

  // Providers.
  'an older publication replaces a newer one': breaks('I4', /^upstream-http-cache/).inLatest(
    (fetchLatest) => {
      let newest: LatestTable | undefined
      return async (context) => {
        const table = await fetchLatest(context)
        const { updatedAt, nextUpdateAt } = newest ?? table
        if (updatedAt > table.updatedAt) return { ...table, updatedAt, nextUpdateAt }
        newest = table
        return table
      }
    },
  ),
  'a publication of next month is accepted as current': breaks('I3', /a month ahead/).inTables(
    (table, { now }) => ({ ...table, updatedAt: Math.min(table.updatedAt, now()) }),
  ),
  'a table with fewer codes than before is accepted': uncompared('I3', /79 % of the codes/),
  'a table with many moved rates is accepted': uncompared('I3', /a third of the codes/),
  'a jump of one rate is accepted': uncompared('I17', /^bad-major: × 1.3/),
  'a move is confirmed by the same publication': breaks('I17', /^bad-major: × 1.3/, {
    lateShare: 1,
  }).inLatest((fetchLatest) => ({ previous, ...context }) => {
    const earlier = previous && { updatedAt: previous.updatedAt - DAY, publishedAt: 0 }
    return fetchLatest({
      ...context,
      // Other sources would contradict the move.
      references: [],
      ...(earlier && { previous: { ...previous, ...earlier } }),
    })
  }),
  'a quarantined rate is served': breaks('I3', /one-rate-1000x/).inProvider((latest) => {
    const withDoubtful = (table: LatestTable): LatestTable => {
      const quarantined = Object.entries(table.unconfirmed ?? {})
      const rates = quarantined.map(([code, { rate }]) => [code, rate])
      return { ...table, rates: { ...table.rates, ...Object.fromEntries(rates) } }
    }
    return {
      fetchLatest: async (context) => withDoubtful(await latest.fetchLatest(context)),
      validateStored: async (...of) =>
        withDoubtful((await latest.validateStored?.(...of)) ?? of[0]),
    }
  }),
  'a good table is rejected': breaks('I14').inTables(() => {
    throw new Error('planted rejection')
  }),
  'a day of history is skipped': breaks('I3').inHistory(({ fetchHistory }) => ({
    async fetchHistory(range, context) {
      const { base, days } = await fetchHistory(range, context)
      return { base, days: days.filter((_, index) => index !== days.length - 2) }
    },
  })),
  'days of history are not compared with each other': breaks(
    'I3',
    /^history-bad-day/,
    COLD_STARTS,
  ).inHistory(() => ({ sanityChecks: false })),

  // Banks.
  'what a bank sent once is believed for ever': breaks('I19', /^bank-(gap|truncated)/, RESTARTS, {
    banks: ['years'],
  }).inCreation((create) => {
    const sent = new Map<string, Promise<HistoryDays>>()
    return (createRuntime, parts) => {
      const { latest, history } = parts.providers
      const [first, ...banks] = history.map((provider): HistoryProvider => {
        if (!provider.publication) return provider
        return {
          ...provider,
          async fetchHistory(range, context) {
            const key = `${range.start} ${range.end}`
            const days = sent.get(key) ?? provider.fetchHistory(range, context)
            await days
            sent.set(key, days)
            return days
          },
        }
      })
      return create(createRuntime, {
        ...parts,
        providers: { latest, history: [first ?? parts.providers.history[0], ...banks] },
      })
    }
  }),
  'a failed question shuts its bank for all': breaks('I20', /^bank-404/, {
    banks: ['tables'],
  }).inEveryResponse(() => {
    let isShut = false
    return ({ target }, response) => {
      if (!target.includes('source=sim-')) return response
      isShut ||= response.status === 502
      return isShut ? withHeaders(UNAVAILABLE, { 'retry-after': '300' }) : response
    }
  }),

  // Stores.
  'a stored value is changed and passes all checks': breaks('I3', RESTARTS).inStore((store) => ({
    get: async (key) => {
      const text = await store.get(key)
      if (typeof text !== 'string') return undefined
      return reseal(text, (sealed) =>
        sealed.replaceAll(/"(GBP|INR)":([\d.]+)/g, (_, code, rate) => `"${code}":${rate * 1.1}`),
      )
    },
  })),
  'tables that other processes stored are not read': breaks('I13', FLEET).inStore(() => {
    return { get: () => undefined }
  }),
  'every process gets the lease': breaks('I13', FLEET).inStore(() => ({ claim: () => true })),
  'every request waits for the store': breaks('I6').inRequests(
    async (handler, request, { store }) => {
      await store?.get('rates:v1:latest')
      return handler.answer(request)
    },
  ),

  // The runtime.
  'backoff passes ten times as fast': breaks('I7', /^http-401/).inRuntime(({ monotonic }) => ({
    monotonic: () => 10 * monotonic(),
  })),
  'the clock stands still': breaks('I8').inCreation((create) => (createRuntime, parts) => {
    const startedAt = parts.now()
    return create(createRuntime, { ...parts, now: () => startedAt })
  }),
  'upstream calls have no time limit': breaks('I9', /^conn-timeout/).inRuntime(
    ({ startTimer }) => ({
      startTimer: (callback, delay) => (delay > 6_000 ? () => {} : startTimer(callback, delay)),
    }),
  ),
  // The time limit of an upstream call is a round number, unlike the rest of a client's deadline.
  'clients wait without a deadline': breaks('I6', /^conn-timeout/, RESTARTS).inRuntime(
    ({ startTimer }) => ({
      startTimer: (callback, delay) =>
        delay > 4_000 && delay < 5_000 ? () => {} : startTimer(callback, delay),
    }),
  ),
  'every timer starts a second timer that is never stopped': breaks('I12').inRuntime(
    ({ startTimer }) => ({
      startTimer(callback, delay) {
        startTimer(() => {}, DAY)
        return startTimer(callback, delay)
      },
    }),
  ),

  // The host.
  'a failed background refresh causes an unhandled rejection': breaks(
    'I1',
    /^conn-refused/,
  ).inParts(({ onEvent }) => ({
    onEvent(event) {
      onEvent(event)
      if (event.type === 'refresh_failed') void Promise.reject(new Error('planted rejection'))
    },
  })),
  'a promise given to waitUntil rejects': breaks('I1', /^conn-refused/, {
    hasWaitUntil: true,
  }).inParts(({ waitUntil }) => ({
    waitUntil: (work) => waitUntil?.(work.then(() => Promise.reject(new Error('too late')))),
  })),
  'data are never refreshed': breaks('I14', { calmFrom: 0 }).inCreation(
    (create) => (createRuntime, parts) => {
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
  ),
  'close() starts again': breaks('I12', {
    ...COLD_STARTS,
    hosts: 1,
    mishapEvery: HOUR / 4,
    requests: 3_000,
  }).inCreation((create) => (createRuntime, parts) => {
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
  }),
  'two handlers of one process call the upstream independently': breaks('I7', {
    store: 'none',
    hasClaims: false,
  }).inCreation((create) => (createRuntime, parts) => {
    const [one, other] = [create(createRuntime, parts), create(createRuntime, parts)]
    let turn = 0
    return altered(one, (request) => ((turn += 1) % 2 === 0 ? one : other).answer(request))
  }),

  // Responses.
  'a request rejects': breaks('I1').inResponses(({ target }, response) => {
    if (target.includes('JPY')) throw new Error('planted failure')
    return response
  }),
  'results are rounded to whole numbers': breaks('I2').inBodies((body) =>
    body.replace(/"result":([\d.]+)/, (_, r) => `"result":${Math.ceil(r)}`),
  ),
  'the response names the base of the table instead of the requested base': breaks('I15').inBodies(
    (body) => body.replace(/"base":"..."/, '"base":"USD"'),
  ),
  'every period is a week': breaks('I3').inRequests(async (handler, request) => {
    const [, period] = /period=(\w+)/.exec(request.target) ?? []
    if (period === undefined) return handler.answer(request)
    const target = request.target.replace(period, '1W')
    const response = await handler.answer({ ...request, target })
    const body = String(bodyInOnePart(response.body)).replace(
      '"period":"1W"',
      `"period":"${period}"`,
    )
    return { ...response, body }
  }),
  'Last-Modified always names the first publication': breaks('I4').inEveryResponse(() => {
    let first: string | undefined
    return ({ header }, response) => {
      if (response.status === 200) first ??= headerOf(response, 'last-modified')
      if (response.status !== 304 || header('if-none-match') === null) return response
      return withHeaders(response, { 'last-modified': first ?? '' })
    }
  }),
  'the last response is served at any age': breaks('I5', /^conn-refused/, {
    maxStale: { latest: HOUR, history: DAY },
    requests: 400,
  }).inEveryResponse(() => {
    let last: RawResponse | undefined
    return ({ target }, response) => {
      if (!target.startsWith('/api/v1/convert')) return response
      if (response.status === 200)
        last = withHeaders(response, { 'cache-status': 'rates; fwd=miss' })
      return response.status === 502 ? (last ?? response) : response
    }
  }),
  'overdue data are answered with 502': breaks('I5', { lateShare: 1 }).inResponses((_, response) =>
    isStale(response) ? UNAVAILABLE : response,
  ),
  'overdue data are labelled fresh': breaks('I8', { lateShare: 1 }).inResponses((_, response) =>
    isStale(response) ? withHeaders(response, { 'cache-status': 'rates; hit; ttl=600' }) : response,
  ),
  'a 502 has no valid Retry-After': breaks('I10', /^conn-refused/, COLD_STARTS).inResponses(
    (_, response) =>
      response.status === 502 ? withHeaders(response, { 'retry-after': 'soon' }) : response,
  ),
  'a currency without a current rate is answered with 400': breaks('I18', /^bad-major: missing/, {
    maxStale: { latest: HOUR, history: DAY },
  }).inEveryResponse(() => {
    let isLoaded = false
    return ({ target }, response) => {
      if (!target.startsWith('/api/v1/convert')) return response
      isLoaded ||= response.status === 200
      return isLoaded && response.status === 502 ? { ...response, status: 400 } : response
    }
  }),
  'a currency that the last publication lacks is answered with 400': breaks(
    'I18',
    /^bad-major: null/,
  ).inRequests(async (handler, request) => {
    const response = await handler.answer(request)
    if (!/convert.*EUR/.test(request.target) || response.status !== 200) return response
    const { older = {} } = await handler.rates.latest()
    return 'EUR' in older ? { ...UNAVAILABLE, status: 400 } : response
  }),
  'errors contain their cause': leak(({ status }) => status === 502),
  'the status contains the cause of a failure': leak((_, target) => target.endsWith('/status')),
  'an abort listener is leaked per client': breaks('I12').inResponses(({ signal }, response) => {
    signal?.addEventListener('abort', () => {})
    return response
  }),
}

const UNAVAILABLE: RawResponse = withHeaders(
  { status: 502, headers: [], body: null, matched: true },
  { 'cache-control': 'no-store', 'retry-after': '1' },
)

function uncompared(invariant: string, faults: RegExp): PlantedBug {
  return breaks(invariant, faults).inProvider(({ fetchLatest, validateStored }) => ({
    fetchLatest: ({ fetch, signal, now }) => fetchLatest({ fetch, signal, now }),
    validateStored: (table) => validateStored?.(table, undefined) ?? table,
  }))
}

function leak(isLeaky: (response: RawResponse, target: string) => boolean): PlantedBug {
  return breaks('I11', /^conn-refused/, COLD_STARTS).inCreation(
    (create) => (createRuntime, parts) => {
      let cause = ''
      const onEvent: HandlerParts['onEvent'] = (event) => {
        parts.onEvent(event)
        let { error } = Object(event)
        for (; error; error = error.cause ?? error.errors?.[0]) cause += String(error)
      }
      const handler = create(createRuntime, { ...parts, onEvent })
      return altered(handler, async (request) => {
        const response = await handler.answer(request)
        return isLeaky(response, request.target)
          ? { ...response, body: String(bodyInOnePart(response.body)) + cause }
          : response
      })
    },
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
  const { plant } = breaks('').inRuntime(() => ({ random: () => Math.random() }))
  const digest = async (): Promise<string> => (await simulate({ seed: 2, days: 3, plant })).digest
  expect(await digest()).not.toBe(await digest())
})

test('breaks every invariant with a planted bug', () => {
  const broken = new Set(['I16', ...Object.values(PLANTED_BUGS).map(({ breaks }) => breaks)])
  expect(broken).toEqual(new Set(Array.from({ length: 20 }, (_, index) => `I${index + 1}`)))
})
