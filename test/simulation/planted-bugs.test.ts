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

type Plant = (create: CreateHandler) => CreateHandler
type AlterResponse = (request: RawRequest, response: RawResponse) => RawResponse
type Respond = (
  handler: RatesHandler,
  request: RawRequest,
  parts: HandlerParts,
) => Promise<RawResponse>

/** A plausible bug that breaks an invariant, and the seed that shows it in the least time. */
interface PlantedBug {
  breaks: string
  seed: number
  settings: Partial<Settings>
  plant: Plant
}

const DAYS = 4
/** Seeds that are tried, from that of the bug on: a change of the code may move it to another one. */
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
const NO_STORE: Partial<Settings> = { store: 'none', hasClaims: false }
const COLD_STARTS: Partial<Settings> = { ...RESTARTS, ...NO_STORE }
const SHORT_LIVED: Partial<Settings> = { maxStale: { latest: HOUR, history: DAY } }

/** Plants a bug where the handler meets its environment. */
class Planting {
  readonly planted: (plant: Plant) => PlantedBug

  constructor(planted: Planting['planted']) {
    this.planted = planted
  }

  inHandlers = (
    start: (parts: HandlerParts, create: (parts: HandlerParts) => RatesHandler) => RatesHandler,
  ) =>
    this.planted(
      (create) => (createRuntime, parts) => start(parts, (own) => create(createRuntime, own)),
    )

  inParts = (alter: (parts: HandlerParts) => Partial<HandlerParts>) =>
    this.inHandlers((parts, create) => create({ ...parts, ...alter(parts) }))

  inFetched = (alter: (response: Response) => void) =>
    this.inParts(({ fetch }) => ({
      async fetch(input, init) {
        const response = await fetch(input, init)
        alter(response)
        return response
      },
    }))

  inProvider = (alter: (latest: LatestProvider) => Partial<LatestProvider>) =>
    this.inParts(({ providers: { latest, history } }) => {
      return { providers: { latest: { ...latest, ...alter(latest) }, history } }
    })

  inHistories = (alter: (history: HistoryProvider) => Partial<HistoryProvider>) =>
    this.inParts(({ providers: { latest, history } }) => {
      const [first, ...others] = history.map((each) => ({ ...each, ...alter(each) }))
      return { providers: { latest, history: [first ?? history[0], ...others] } }
    })

  inStore = (alter: (store: CacheStore) => Partial<CacheStore>) =>
    this.inParts(({ store }) => ({ store: store && { ...store, ...alter(store) } }))

  inRuntime = (alter: (runtime: Runtime) => Partial<Runtime>) =>
    this.planted((create) => (createRuntime, parts) => {
      const createAltered: typeof createRuntime = (now) => {
        const runtime = createRuntime(now)
        return { ...runtime, ...alter(runtime) }
      }
      return create(createAltered, parts)
    })

  inRequests = (respond: Respond) =>
    this.inHandlers((parts, create) => {
      const handler = create(parts)
      return altered(handler, (request) => respond(handler, request, parts))
    })

  inEveryResponse = (start: () => AlterResponse) =>
    this.inHandlers((parts, create) => {
      const [handler, alter] = [create(parts), start()]
      return altered(handler, async (request) => alter(request, await handler.answer(request)))
    })

  inResponses = (alter: AlterResponse) => this.inEveryResponse(() => alter)

  inBodies = (alter: (body: string) => string) =>
    this.inResponses((_, response) =>
      typeof response.body === 'string' ? { ...response, body: alter(response.body) } : response,
    )
}

/** A bug that breaks `invariant`, with faults of these names or with these settings. */
function breaks(invariant: string, seed: number, ...conditions: (RegExp | Partial<Settings>)[]) {
  const settings = conditions.map((each) =>
    each instanceof RegExp ? { faultNames: each, faultShare: 1 } : each,
  )
  return new Planting((plant) => {
    return { breaks: invariant, seed, settings: Object.assign({}, ...settings), plant }
  })
}

const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  // Upstream calls.
  'a failed call is repeated at once': breaks('I7', 3, /^conn-refused/).inParts(({ fetch }) => ({
    fetch: (input, init) => {
      const again = { ...init, signal: new AbortController().signal }
      return fetch(input, init).catch(() => fetch(input, again))
    },
  })),
  'Retry-After of an upstream is ignored': breaks('I7', 4, /^http-429-seconds: .*min/).inFetched(
    ({ headers }) => headers.delete('retry-after'),
  ),
  'every failure causes a backoff of six hours': breaks('I14', 3, /^http-500/).inFetched(
    ({ ok, headers }) => !ok && headers.set('retry-after', String((6 * HOUR) / SECOND)),
  ),

  // Providers.
  'an older table replaces a newer one': breaks('I4', 4, /^upstream-http-cache/).inProvider(
    ({ fetchLatest }) => {
      let newest: LatestTable | undefined
      return {
        async fetchLatest(context) {
          const table = await fetchLatest(context)
          const { updatedAt, nextUpdateAt } = newest ?? table
          if (updatedAt > table.updatedAt) return { ...table, updatedAt, nextUpdateAt }
          return (newest = table)
        },
      }
    },
  ),
  'a table of next month is accepted': breaks('I3', 3, /a month ahead/).inProvider(
    ({ fetchLatest }) => ({
      async fetchLatest(context) {
        const table = await fetchLatest(context)
        return { ...table, updatedAt: Math.min(table.updatedAt, context.now()) }
      },
    }),
  ),
  'a table with fewer codes than before is accepted': uncompared('I3', /79 % of the codes/),
  'a table with many moved rates is accepted': uncompared('I3', /a third of the codes/),
  'a jump of one rate is accepted': uncompared('I17', /^bad-major: × 1.3/),
  'a move is confirmed by the same publication': breaks('I17', 3, /^bad-major: × 1.3/, {
    lateShare: 1,
  }).inProvider(({ fetchLatest }) => ({
    fetchLatest({ previous, ...context }) {
      const earlier = previous && { updatedAt: previous.updatedAt - DAY, publishedAt: 0 }
      const given = earlier && { previous: { ...previous, ...earlier } }
      // Other sources would contradict the move.
      return fetchLatest({ ...context, references: [], ...given })
    },
  })),
  'a quarantined rate is served': breaks('I3', 3, /one-rate-1000x/).inProvider((latest) => {
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
  'a good table is rejected': breaks('I14', 1).inProvider(() => ({
    fetchLatest: () => Promise.reject(new Error('planted rejection')),
  })),
  'a day of history is skipped': breaks('I3', 1).inHistories(({ fetchHistory }) => ({
    async fetchHistory(range, context) {
      const { base, days } = await fetchHistory(range, context)
      return { base, days: days.filter((_, index) => index !== days.length - 2) }
    },
  })),
  'days of history are not compared': breaks('I3', 2, /^history-bad-day/, COLD_STARTS).inHistories(
    () => ({ sanityChecks: false }),
  ),

  // Banks.
  'what a bank sent once is believed for ever': breaks('I19', 8, /^bank-(gap|truncated)/, {
    ...RESTARTS,
    banks: ['years'],
  }).planted((create) => {
    const sent = new Map<string, Promise<HistoryDays>>()
    const remember = breaks('', 0).inHistories(({ publication, fetchHistory }) => ({
      async fetchHistory(range, context) {
        const key = `${range.start} ${range.end}`
        const days = (publication && sent.get(key)) ?? fetchHistory(range, context)
        await days
        if (publication) sent.set(key, days)
        return days
      },
    }))
    return remember.plant(create)
  }),
  'a failed question shuts its bank for all': breaks('I20', 11, /^bank-404/, {
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
  'a stored value is changed and passes all checks': breaks('I3', 1, RESTARTS).inStore((store) => ({
    async get(key) {
      const text = await store.get(key)
      if (typeof text !== 'string') return undefined
      return reseal(text, (sealed) =>
        sealed.replaceAll(/"(GBP|INR)":([\d.]+)/g, (_, code, rate) => `"${code}":${rate * 1.1}`),
      )
    },
  })),
  'tables that other processes stored are not read': breaks('I13', 1, FLEET).inStore(() => {
    return { get: () => undefined }
  }),
  'every process gets the lease': breaks('I13', 1, FLEET).inStore(() => ({ claim: () => true })),
  'every request waits for the store': breaks('I6', 1).inRequests(
    async (handler, request, { store }) => {
      await store?.get('rates:v1:latest')
      return handler.answer(request)
    },
  ),

  // The runtime.
  'backoff passes ten times as fast': breaks('I7', 3, /^http-401/).inRuntime(({ monotonic }) => ({
    monotonic: () => 10 * monotonic(),
  })),
  'the clock stands still': breaks('I8', 1).inParts(({ now }) => {
    const startedAt = now()
    return { now: () => startedAt }
  }),
  'upstream calls have no time limit': breaks('I9', 7, /^conn-timeout/).inRuntime(
    withoutTimers((delay) => delay > 6_000),
  ),
  // The time limit of an upstream call is a round number, unlike the rest of a client's deadline.
  'clients wait without a deadline': breaks('I6', 6, /^conn-timeout/, RESTARTS).inRuntime(
    withoutTimers((delay) => delay > 4_000 && delay < 5_000),
  ),
  'every timer starts a second timer that is never stopped': breaks('I12', 1).inRuntime(
    ({ startTimer }) => ({
      startTimer(callback, delay) {
        startTimer(() => {}, DAY)
        return startTimer(callback, delay)
      },
    }),
  ),

  // The host.
  'a failed refresh is an unhandled rejection': breaks('I1', 3, /^conn-refused/).inParts(
    ({ onEvent }) => ({
      onEvent(event) {
        onEvent(event)
        if (event.type === 'refresh_failed') void Promise.reject(new Error('planted rejection'))
      },
    }),
  ),
  'a promise given to waitUntil rejects': breaks('I1', 1, /^conn-refused/, {
    hasWaitUntil: true,
  }).inParts(({ waitUntil }) => ({
    waitUntil: (work) => waitUntil?.(work.then(() => Promise.reject(new Error('too late')))),
  })),
  'data are never refreshed': breaks('I14', 1, { calmFrom: 0 }).inHandlers((parts, create) => {
    let loads = 0
    const onEvent: HandlerParts['onEvent'] = (event) => {
      parts.onEvent(event)
      if (event.type !== 'upstream_response') return
      if ((loads += 1) === 2) void Promise.resolve().then(handler.close)
    }
    const handler = create({ ...parts, onEvent })
    return handler
  }),
  'close() starts again': breaks('I12', 2, {
    ...NO_STORE,
    mishapEvery: HOUR / 4,
    requests: 3_000,
  }).inHandlers((parts, create) => {
    let handler = create(parts)
    return Object.assign(
      altered(handler, (request) => handler.answer(request)),
      {
        close() {
          handler.close()
          handler = create(parts)
        },
      },
    )
  }),
  'two handlers of a process call independently': breaks('I7', 1, NO_STORE).inHandlers(
    (parts, create) => {
      const [one, other] = [create(parts), create(parts)]
      let turn = 0
      return altered(one, (request) => ((turn += 1) % 2 === 0 ? one : other).answer(request))
    },
  ),

  // Responses.
  'a request rejects': breaks('I1', 1).inResponses(({ target }, response) => {
    if (target.includes('JPY')) throw new Error('planted failure')
    return response
  }),
  'results are rounded to whole numbers': breaks('I2', 1).inBodies((body) =>
    body.replace(/"result":([\d.]+)/, (_, r) => `"result":${Math.ceil(r)}`),
  ),
  'the response names the base of the table': breaks('I15', 1).inBodies((body) =>
    body.replace(/"base":"..."/, '"base":"USD"'),
  ),
  'every period is a week': breaks('I3', 1).inRequests(async (handler, request) => {
    const [, period] = /period=(\w+)/.exec(request.target) ?? []
    if (period === undefined) return handler.answer(request)
    const target = request.target.replace(period, '1W')
    const response = await handler.answer({ ...request, target })
    const body = String(bodyInOnePart(response.body))
    return { ...response, body: body.replace('"period":"1W"', `"period":"${period}"`) }
  }),
  'Last-Modified always names the first publication': breaks('I4', 1).inEveryResponse(() => {
    let first: string | undefined
    return ({ header }, response) => {
      if (response.status === 200) first ??= headerOf(response, 'last-modified')
      if (response.status !== 304 || header('if-none-match') === null) return response
      return withHeaders(response, { 'last-modified': first ?? '' })
    }
  }),
  'the last response is served at any age': breaks('I5', 3, /^conn-refused/, {
    ...SHORT_LIVED,
    requests: 400,
  }).inEveryResponse(() => {
    let last: RawResponse | undefined
    return ({ target }, response) => {
      if (!target.startsWith('/api/v1/convert')) return response
      if (response.status === 502) return last ?? response
      const isMiss = { 'cache-status': 'rates; fwd=miss' }
      if (response.status === 200) last = withHeaders(response, isMiss)
      return response
    }
  }),
  'overdue data are answered with 502': breaks('I5', 1, { lateShare: 1 }).inResponses(
    (_, response) => (isStale(response) ? UNAVAILABLE : response),
  ),
  'overdue data are labelled fresh': breaks('I8', 1, { lateShare: 1 }).inResponses((_, response) =>
    isStale(response) ? withHeaders(response, { 'cache-status': 'rates; hit; ttl=600' }) : response,
  ),
  'a 502 has no valid Retry-After': breaks('I10', 2, /^conn-refused/, COLD_STARTS).inResponses(
    (_, response) =>
      response.status === 502 ? withHeaders(response, { 'retry-after': 'soon' }) : response,
  ),
  'a currency without a current rate is answered with 400': breaks(
    'I18',
    3,
    /^bad-major: missing/,
    SHORT_LIVED,
  ).inEveryResponse(() => {
    let isLoaded = false
    return ({ target }, response) => {
      if (!target.startsWith('/api/v1/convert')) return response
      isLoaded ||= response.status === 200
      return isLoaded && response.status === 502 ? { ...response, status: 400 } : response
    }
  }),
  'a code that the last table lacks returns 400': breaks('I18', 3, /^bad-major: null/).inRequests(
    async (handler, request) => {
      const response = await handler.answer(request)
      if (!/convert.*EUR/.test(request.target) || response.status !== 200) return response
      const { older = {} } = await handler.rates.latest()
      return 'EUR' in older ? { ...UNAVAILABLE, status: 400 } : response
    },
  ),
  'errors contain their cause': leak(({ status }) => status === 502),
  'the status contains the cause of a failure': leak((_, target) => target.endsWith('/status')),
  'an abort listener is leaked per client': breaks('I12', 1).inResponses(({ signal }, response) => {
    signal?.addEventListener('abort', () => {})
    return response
  }),
}

const UNAVAILABLE: RawResponse = withHeaders(
  { status: 502, headers: [], body: null, matched: true },
  { 'cache-control': 'no-store', 'retry-after': '1' },
)

function uncompared(invariant: string, faults: RegExp): PlantedBug {
  return breaks(invariant, 3, faults).inProvider(({ fetchLatest, validateStored }) => ({
    fetchLatest: ({ fetch, signal, now }) => fetchLatest({ fetch, signal, now }),
    validateStored: (table) => validateStored?.(table, undefined) ?? table,
  }))
}

function withoutTimers(isLost: (delay: number) => boolean) {
  return ({ startTimer }: Runtime): Partial<Runtime> => ({
    startTimer: (callback, delay) => (isLost(delay) ? () => {} : startTimer(callback, delay)),
  })
}

function leak(isLeaky: (response: RawResponse, target: string) => boolean): PlantedBug {
  return breaks('I11', 2, /^conn-refused/, COLD_STARTS).inHandlers((parts, create) => {
    let cause = ''
    const onEvent: HandlerParts['onEvent'] = (event) => {
      parts.onEvent(event)
      let { error } = Object(event)
      for (; error; error = error.cause ?? error.errors?.[0]) cause += String(error)
    }
    const handler = create({ ...parts, onEvent })
    return altered(handler, async (request) => {
      const response = await handler.answer(request)
      if (!isLeaky(response, request.target)) return response
      return { ...response, body: String(bodyInOnePart(response.body)) + cause }
    })
  })
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

/** Returns the message of the first violation. */
async function firstViolation({ settings, plant, seed: first }: PlantedBug): Promise<string> {
  for (let seed = first; seed < first + SEEDS; seed += 1) {
    try {
      await simulate({ seed, days: DAYS, settings: { ...CALM, ...settings }, plant })
    } catch (failure) {
      return String(Object(failure).message)
    }
  }
  return 'no violation'
}

test.each(Object.entries(PLANTED_BUGS))('detects that %s', async (_, bug) => {
  expect(await firstViolation(bug)).toMatch(
    new RegExp(
      String.raw`^${bug.breaks}: .*seed \d+, day \d+ [\d:.]+.*npm run simulate -- --seed \d+ --days \d+ .*--trace`,
    ),
  )
})

test('detects by the digest that a run uses randomness other than that of its seed', async () => {
  const { plant } = breaks('', 0).inRuntime(() => ({ random: () => Math.random() }))
  const digest = async (): Promise<string> => (await simulate({ seed: 2, days: 2, plant })).digest
  expect(await digest()).not.toBe(await digest())
})

test('breaks every invariant with a planted bug', () => {
  const broken = new Set(['I16', ...Object.values(PLANTED_BUGS).map(({ breaks }) => breaks)])
  expect(broken).toEqual(new Set(Array.from({ length: 20 }, (_, index) => `I${index + 1}`)))
})
