import { expect, test } from 'vitest'

import type { HistoryProvider, LatestProvider, LatestTable } from '../../src/index.ts'
import type { RawResponse, RawRequest, CacheStore, RatesHandler } from '../../src/index.ts'
import { reseal } from '../fixtures/envelopes.ts'
import { DAY, HOUR, SECOND } from '../virtual-runtime.ts'
import { simulate } from './simulate.ts'
import type { Runtime } from '../../src/runtime.ts'
import type { CreateHandler, HandlerParts, Settings } from './world/fleet.ts'

/** A bug that somebody might write, injected where the handler meets the world around it. */
interface PlantedBug {
  breaks: string
  /** The upstream or store faults that bring it to light (default none). */
  faults?: RegExp
  settings?: Partial<Settings>
  plant(create: CreateHandler): CreateHandler
}

/** How long a simulation with a bug lasts, and how many are tried. */
const DAYS = 4
const SEEDS = 40

/** A single process and nothing that goes wrong, but for what a bug asks for. */
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

/** What is broken by the first seed that finds `bug`, and in which words; undefined where none does. */
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

/** The bugs, by the seam that each of them is injected at. */
const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  // The upstream calls.
  'a call that failed is made again at once': {
    breaks: 'I7',
    faults: /^conn-refused/,
    plant: inFetch((fetch) => async (input, init) => {
      const again = { ...init, signal: new AbortController().signal }
      return fetch(input, init).catch(() => fetch(input, again))
    }),
  },
  'the pause that an upstream asks for is not kept': {
    breaks: 'I7',
    faults: /^http-429-seconds: .*min/,
    plant: inResponses(({ headers }) => headers.delete('retry-after')),
  },
  'every failure makes for a pause of six hours': {
    breaks: 'I14',
    faults: /^http-500/,
    plant: inResponses(({ ok, headers }) => {
      if (!ok) headers.set('retry-after', String((6 * HOUR) / SECOND))
    }),
  },

  // The providers.
  'an older publication is taken for a new one': {
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
  'a publication of next month is taken for one of today': {
    breaks: 'I3',
    faults: /a month ahead/,
    plant: inTables((table, { now }) => ({
      ...table,
      updatedAt: Math.min(table.updatedAt, now()),
    })),
  },
  'fewer codes than in the table before are not noticed': uncompared(/79 % of the codes/),
  'many rates that moved since the table before are not noticed':
    uncompared(/a third of the codes/),
  'a jump since the table before is not noticed': {
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
  'a rate that is held back is served all the same': {
    breaks: 'I3',
    faults: /one-rate-1000x/,
    plant: inTables((table) => ({ ...table, rates: { ...table.rates, ...table.unconfirmed } })),
  },
  'invalid rates are filled in': {
    breaks: 'I3',
    faults: /^rate-(zero|negative|huge): .* one code more/,
    plant: inTables((table) => {
      const filled = Object.entries(table.rates).map(([code, rate]) => [code, rate > 0 ? rate : 1])
      return { ...table, rates: Object.fromEntries(filled) }
    }),
  },
  'a failure is covered up with the table before': {
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
  'a good table is refused': {
    breaks: 'I14',
    plant: inTables(() => {
      throw new Error('there is something wrong with it')
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
  'a day of history that was held back is not asked for again': {
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

  // The store.
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
  'nobody looks for what another process has loaded': {
    breaks: 'I13',
    settings: FLEET,
    plant: inStore(() => ({ get: () => undefined })),
  },
  'claims are granted to everybody': {
    breaks: 'I13',
    settings: FLEET,
    plant: inStore(() => ({ claim: () => true })),
  },
  'every answer waits for the store': {
    breaks: 'I6',
    plant: inRequests(async (handler, request, { store }) => {
      await store?.get('rates:v1:latest')
      return handler.answer(request)
    }),
  },

  // The machine.
  'pauses pass ten times as fast': {
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
  'calls have no time limit': {
    breaks: 'I9',
    faults: /^conn-timeout/,
    plant: inRuntime(({ startTimer }) => ({
      startTimer: (callback, delay) => (delay > 6_000 ? () => {} : startTimer(callback, delay)),
    })),
  },
  'clients wait as long as it takes': {
    breaks: 'I6',
    faults: /^conn-timeout/,
    settings: RESTARTS,
    // A call's own limit is a round number.
    plant: inRuntime(({ startTimer }) => ({
      startTimer: (callback, delay) =>
        delay > 4_000 && delay < 5_000 ? () => {} : startTimer(callback, delay),
    })),
  },
  'a timer that nobody stops is set beside every other': {
    breaks: 'I12',
    plant: inRuntime(({ startTimer }) => ({
      startTimer(callback, delay) {
        startTimer(() => {}, DAY)
        return startTimer(callback, delay)
      },
    })),
  },

  // What the host gives, and is given.
  'a failed background refresh goes unhandled': {
    breaks: 'I1',
    faults: /^conn-refused/,
    plant: inParts(({ onEvent, ...parts }) => ({
      ...parts,
      onEvent(event) {
        onEvent(event)
        if (event.type === 'refresh_failed') void Promise.reject(new Error('nobody hears of it'))
      },
    })),
  },
  'a host is given work that rejects': {
    breaks: 'I1',
    faults: /^conn-refused/,
    settings: { hasWaitUntil: true },
    plant: inParts(({ waitUntil, ...parts }) => ({
      ...parts,
      waitUntil: (work) => waitUntil?.(work.then(() => Promise.reject(new Error('too late')))),
    })),
  },
  'nothing is refreshed once it was loaded': {
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
  'two handlers in one process ask for themselves': {
    breaks: 'I7',
    settings: { store: 'none', hasClaims: false },
    plant: (create) => (createRuntime, parts) => {
      const [one, other] = [create(createRuntime, parts), create(createRuntime, parts)]
      let turn = 0
      return altered(one, (request) => ((turn += 1) % 2 === 0 ? one : other).answer(request))
    },
  },

  // The answers.
  'an answer is rejected': {
    breaks: 'I1',
    plant: inAnswers(({ target }, answer) => {
      if (target.includes('JPY')) throw new Error('not this one')
      return answer
    }),
  },
  'results are rounded to whole numbers': {
    breaks: 'I2',
    plant: inBodies((body) =>
      body.replace(/"result":([\d.]+)/, (_, r) => `"result":${Math.ceil(r)}`),
    ),
  },
  'the base of the table is named in place of the one asked for': {
    breaks: 'I15',
    plant: inBodies((body) => body.replace(/"base":"..."/, '"base":"USD"')),
  },
  'every period is a week': {
    breaks: 'I3',
    plant: inRequests(async (handler, request) => {
      const [, period] = /period=(\w+)/.exec(request.target) ?? []
      if (period === undefined) return handler.answer(request)
      const target = request.target.replace(period, '1W')
      const answer = await handler.answer({ ...request, target })
      const body = String(answer.body).replace('"period":"1W"', `"period":"${period}"`)
      return { ...answer, body }
    }),
  },
  'bodies are remembered beyond their data': {
    breaks: 'I3',
    plant: inAnswersOfEach(() => {
      const bodies = new Map<string, RawResponse['body']>()
      return ({ target }, answer) => {
        if (answer.status !== 200 || !/latest|convert/.test(target)) return answer
        const body = bodies.get(target) ?? answer.body
        bodies.set(target, body)
        return { ...answer, body }
      }
    }),
  },
  'the time of the first publication is reported for ever': {
    breaks: 'I4',
    plant: inAnswersOfEach(() => {
      let first: string | undefined
      return ({ header }, answer) => {
        if (answer.status === 200) first ??= headerOf(answer, 'last-modified')
        if (answer.status !== 304 || header('if-none-match') === null) return answer
        return withHeaders(answer, { 'last-modified': first ?? '' })
      }
    }),
  },
  'the last answer is given however old it is': {
    breaks: 'I5',
    faults: /^conn-refused/,
    settings: { maxStale: { latest: HOUR, history: DAY }, requests: 400 },
    plant: inAnswersOfEach(() => {
      let last: RawResponse | undefined
      return ({ target }, answer) => {
        if (!target.startsWith('/api/v1/convert')) return answer
        if (answer.status === 200) last = withHeaders(answer, { 'cache-status': 'rates; fwd=miss' })
        return answer.status === 502 ? (last ?? answer) : answer
      }
    }),
  },
  'overdue data are not answered with': {
    breaks: 'I5',
    settings: { lateShare: 1 },
    plant: inAnswers((_, answer) => (isStale(answer) ? UNAVAILABLE : answer)),
  },
  'overdue data are called fresh': {
    breaks: 'I8',
    settings: { lateShare: 1 },
    plant: inAnswers((_, answer) =>
      isStale(answer) ? withHeaders(answer, { 'cache-status': 'rates; hit; ttl=600' }) : answer,
    ),
  },
  'errors may be cached': {
    breaks: 'I10',
    plant: inAnswers((_, answer) =>
      answer.status >= 400 ? withHeaders(answer, { 'cache-control': 'max-age=60' }) : answer,
    ),
  },
  'a 502 names no time to come back': {
    breaks: 'I10',
    faults: /^conn-refused/,
    settings: COLD_STARTS,
    plant: inAnswers((_, answer) =>
      answer.status === 502 ? withHeaders(answer, { 'retry-after': 'soon' }) : answer,
    ),
  },
  'a currency without a rate is called a mistake of the client': {
    breaks: 'I18',
    faults: /^bad-major: missing/,
    settings: { maxStale: { latest: HOUR, history: DAY } },
    plant: inAnswersOfEach(() => {
      let isLoaded = false
      return ({ target }, answer) => {
        if (!target.startsWith('/api/v1/convert')) return answer
        isLoaded ||= answer.status === 200
        return isLoaded && answer.status === 502 ? { ...answer, status: 400 } : answer
      }
    }),
  },
  'a currency is forgotten that the last publication lacks': {
    breaks: 'I18',
    faults: /^bad-major: null/,
    plant: inRequests(async (handler, request) => {
      const answer = await handler.answer(request)
      if (!/convert.*EUR/.test(request.target) || answer.status !== 200) return answer
      const { older = {} } = await handler.rates.latest()
      return 'EUR' in older ? { ...UNAVAILABLE, status: 400 } : answer
    }),
  },
  'errors say what went wrong': leak(({ status }) => status === 502),
  'the status says what went wrong': leak((_, target) => target.endsWith('/status')),
  'a listener is left for every client': {
    breaks: 'I12',
    plant: inAnswers(({ signal }, answer) => {
      signal?.addEventListener('abort', () => {})
      return answer
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

/** A bug that compares no table with the one before, so that `faults` are not noticed. */
function uncompared(faults: RegExp): PlantedBug {
  const plant = inLatest(
    (fetchLatest) =>
      ({ fetch, signal, now }) =>
        fetchLatest({ fetch, signal, now }),
  )
  return { breaks: 'I3', faults, plant }
}

/** A bug that adds the cause of the last failure to answers. */
function leak(isLeaky: (answer: RawResponse, target: string) => boolean): PlantedBug {
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
        const answer = await handler.answer(request)
        return isLeaky(answer, request.target)
          ? { ...answer, body: String(answer.body) + cause }
          : answer
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
  answer: (handler: RatesHandler, request: RawRequest, parts: HandlerParts) => Promise<RawResponse>,
): Plant {
  return (create) => (createRuntime, parts) => {
    const handler = create(createRuntime, parts)
    return altered(handler, (request) => answer(handler, request, parts))
  }
}

type AlterAnswer = (request: RawRequest, answer: RawResponse) => RawResponse

function inAnswers(alter: AlterAnswer): Plant {
  return inAnswersOfEach(() => alter)
}

/** The same where each handler remembers something. */
function inAnswersOfEach(start: () => AlterAnswer): Plant {
  return (create) => (createRuntime, parts) => {
    const handler = create(createRuntime, parts)
    const alter = start()
    return altered(handler, async (request) => alter(request, await handler.answer(request)))
  }
}

function inBodies(alter: (body: string) => string): Plant {
  return inAnswers((_, answer) =>
    typeof answer.body === 'string' ? { ...answer, body: alter(answer.body) } : answer,
  )
}

function altered(handler: RatesHandler, answer: RatesHandler['answer']): RatesHandler {
  return Object.assign((request: Request) => handler(request), handler, { answer })
}

function isStale(answer: RawResponse): boolean {
  return headerOf(answer, 'cache-status')?.includes('stale') === true
}

function headerOf({ headers }: RawResponse, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

function withHeaders(answer: RawResponse, changed: Record<string, string>): RawResponse {
  const kept = answer.headers.filter(([name]) => !Object.hasOwn(changed, name))
  return { ...answer, headers: [...kept, ...Object.entries(changed)] }
}

/** Generous: the slowest takes a second. In ms. */
const TIMEOUT = 120_000

test.each(Object.entries(PLANTED_BUGS))(
  'it finds that %s',
  { timeout: TIMEOUT },
  async (_, bug) => {
    const found = await findBug(bug)
    expect(found).toMatchObject({ invariant: bug.breaks })
    expect(found?.message).toMatch(
      /seed \d+, day \d+ [\d:.]+.*npm run simulate -- --seed \d+ --days \d+ .*--trace/,
    )
  },
)

test('it sees by the digest that a run is not repeated where randomness is not that of its seed', async () => {
  const digest = async (): Promise<string> =>
    (await simulate({ seed: 2, days: 3, plant: CHANCE })).digest
  expect(await digest()).not.toBe(await digest())
})

test('every invariant is broken by a planted bug', () => {
  const broken = new Set(['I16', ...Object.values(PLANTED_BUGS).map(({ breaks }) => breaks)])
  expect(broken).toEqual(new Set(Array.from({ length: 18 }, (_, index) => `I${index + 1}`)))
})
