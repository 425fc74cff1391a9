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

/** A bug that breaks `invariant`, with faults of these names or with these settings, planted where the handler meets its environment. */
function breaks(invariant: string, seed: number, ...conditions: (RegExp | Partial<Settings>)[]) {
  const settings = conditions.map((each) =>
    each instanceof RegExp ? { faultNames: each, faultShare: 1 } : each,
  )
  const planted = (plant: Plant): PlantedBug => {
    return { breaks: invariant, seed, settings: Object.assign({}, ...settings), plant }
  }
  const inHandlers = (
    start: (parts: HandlerParts, create: (parts: HandlerParts) => RatesHandler) => RatesHandler,
  ) =>
    planted((create) => (createRuntime, parts) => start(parts, (own) => create(createRuntime, own)))
  const inParts = (alter: (parts: HandlerParts) => Partial<HandlerParts>) =>
    inHandlers((parts, create) => create({ ...parts, ...alter(parts) }))
  const inEveryResponse = (start: () => AlterResponse) =>
    inHandlers((parts, create) => {
      const [handler, alter] = [create(parts), start()]
      return altered(handler, async (request) => alter(request, await handler.answer(request)))
    })
  const inResponses = (alter: AlterResponse) => inEveryResponse(() => alter)
  return {
    planted,
    inHandlers,
    inParts,
    inEveryResponse,
    inResponses,
    inFetched: (alter: (response: Response) => void) =>
      inParts(({ fetch }) => ({
        async fetch(input, init) {
          const response = await fetch(input, init)
          alter(response)
          return response
        },
      })),
    inProvider: (alter: (latest: LatestProvider) => Partial<LatestProvider>) =>
      inParts(({ providers: { latest, history } }) => {
        return { providers: { latest: { ...latest, ...alter(latest) }, history } }
      }),
    inHistories: (alter: (history: HistoryProvider) => Partial<HistoryProvider>) =>
      inParts(({ providers: { latest, history } }) => {
        const [first, ...others] = history.map((each) => ({ ...each, ...alter(each) }))
        return { providers: { latest, history: [first ?? history[0], ...others] } }
      }),
    inStore: (alter: (store: CacheStore) => Partial<CacheStore>) =>
      inParts(({ store }) => ({ store: store && { ...store, ...alter(store) } })),
    inRuntime: (alter: (runtime: Runtime) => Partial<Runtime>) =>
      planted((create) => (createRuntime, parts) => {
        const createAltered: typeof createRuntime = (now) => {
          const runtime = createRuntime(now)
          return { ...runtime, ...alter(runtime) }
        }
        return create(createAltered, parts)
      }),
    inRequests: (respond: Respond) =>
      inHandlers((parts, create) => {
        const handler = create(parts)
        return altered(handler, (request) => respond(handler, request, parts))
      }),
    inBodies: (alter: (body: string) => string) =>
      inResponses((_, response) =>
        typeof response.body === 'string' ? { ...response, body: alter(response.body) } : response,
      ),
  }
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
  'a table with fewer codes than before is accepted': uncompared('I3', /79 % of the codes/),
  'a jump of one rate is accepted': uncompared('I17', /^bad-major: × 1.3/),
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
  'the clock stands still': breaks('I8', 1).inParts(({ now }) => {
    const startedAt = now()
    return { now: () => startedAt }
  }),
  'upstream calls have no time limit': breaks('I9', 7, /^conn-timeout/).inRuntime(
    ({ startTimer }) => ({
      startTimer: (callback, delay) => (delay > 6_000 ? () => {} : startTimer(callback, delay)),
    }),
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
    (_, response) =>
      response.headers.flat().join().includes('detail=stale') ? UNAVAILABLE : response,
  ),
  'a 502 has no valid Retry-After': breaks('I10', 2, /^conn-refused/, COLD_STARTS).inResponses(
    (_, response) =>
      response.status === 502 ? withHeaders(response, { 'retry-after': 'soon' }) : response,
  ),
  'a code that the last table lacks returns 400': breaks('I18', 3, /^bad-major: null/).inRequests(
    async (handler, request) => {
      const response = await handler.answer(request)
      if (!/convert.*EUR/.test(request.target) || response.status !== 200) return response
      const { older = {} } = await handler.rates.latest()
      return 'EUR' in older ? { ...UNAVAILABLE, status: 400 } : response
    },
  ),
  'errors contain their cause': breaks('I11', 2, /^conn-refused/, COLD_STARTS).inHandlers(
    (parts, create) => {
      let cause = ''
      const onEvent: HandlerParts['onEvent'] = (event) => {
        parts.onEvent(event)
        let { error } = Object(event)
        for (; error; error = error.cause ?? error.errors?.[0]) cause += String(error)
      }
      const handler = create({ ...parts, onEvent })
      return altered(handler, async (request) => {
        const response = await handler.answer(request)
        if (response.status !== 502) return response
        return { ...response, body: String(bodyInOnePart(response.body)) + cause }
      })
    },
  ),
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

function altered(handler: RatesHandler, answer: RatesHandler['answer']): RatesHandler {
  return Object.assign((request: Request) => handler(request), handler, { answer })
}

function withHeaders(response: RawResponse, changed: Record<string, string>): RawResponse {
  const kept = response.headers.filter(([name]) => !Object.hasOwn(changed, name))
  return { ...response, headers: [...kept, ...Object.entries(changed)] }
}

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
  const digest = async (): Promise<string> =>
    (await simulate({ seed: 2, days: 1, settings: CALM, plant })).digest
  expect(await digest()).not.toBe(await digest())
})

test('breaks every invariant with a planted bug', () => {
  const broken = new Set(['I16', ...Object.values(PLANTED_BUGS).map(({ breaks }) => breaks)])
  expect(broken).toEqual(new Set(Array.from({ length: 20 }, (_, index) => `I${index + 1}`)))
})
