import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createHandlerOn } from '../src/handler.ts'
import type { RawResponse, RatesEvent } from '../src/index.ts'
import { fakeProviders } from '../src/testing/index.ts'
import { DAY_MS, addDays } from './fixtures/dates.ts'
import { listenersLeftBy, settled, virtualRuntime } from './virtual-runtime.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const { latest, history } = fakeProviders({ now: () => NOW })

const loaded = new Map<string, ReturnType<typeof history.fetchHistory>>()

/** Two currencies, as all would take longer to load than the rest. */
const fetchHistory: typeof history.fetchHistory = async (range, context) => {
  const key = JSON.stringify(range)
  const { base, days } = await (loaded.get(key) ?? history.fetchHistory(range, context))
  const pairs = days.map(({ date, rates: { USD = 1, JPY = 1 } }) => ({ date, rates: { USD, JPY } }))
  loaded.set(key, Promise.resolve({ base, days: pairs }))
  return { base, days: pairs }
}

const PAIR = '/api/v1/history?from=USD&to=JPY'
const ONE = '/api/v1/convert?from=USD&to=EUR'

const EXPENSIVE = [
  `${PAIR}&start=2004-01-01`,
  `${PAIR}&start=2004-01-01&interval=month`,
  `${PAIR}&period=5Y`,
  `${PAIR}&period=5Y&interval=month`,
  `${PAIR}&period=1Y&format=csv`,
  `${ONE}&${'-'.repeat(513 - 'from=USD&to=EUR&'.length)}`,
]
const CHEAP = [
  ONE,
  '/api/v1/latest?base=CHF&format=csv',
  '/api/v1/latest?date=2004-01-08',
  `${PAIR}&period=1Y`,
  `${PAIR}&start=2004-01-01&end=2004-12-31`,
  `${ONE}&${'-'.repeat(512 - 'from=USD&to=EUR&'.length)}`,
  `/api/v1/nothing?${'-'.repeat(600)}`,
]

/** The expensive question of a number; no two are the same. */
function large(number: number): string {
  return `${PAIR}&start=2000-01-03&end=${addDays('2004-01-01', number)}`
}

interface Asked {
  method?: string
  signal?: AbortSignal
  ifNoneMatch?: string
}

/**
 * A handler with data, on a machine on which the event loop turns in `turn`. It reads the name of its source once for each
 * history that it computes, which takes `work.duration` ms.
 */
async function start({ random = 0, isCold = false } = {}) {
  const runtime = virtualRuntime(NOW, random)
  const work = { count: 0, duration: 2, spent: 0 }
  const attribution = {
    get name() {
      work.count += 1
      work.spent += work.duration
      return 'Slow'
    },
    url: 'https://slow.example',
  }
  const turns: (() => void)[] = []
  const events: RatesEvent[] = []
  const { answer, refresh } = createHandlerOn(
    () => ({
      ...runtime,
      monotonic: () => runtime.monotonic() + work.spent,
      yieldToEventLoop: () => new Promise((resolve) => void turns.push(resolve)),
    }),
    {
      now: runtime.now,
      providers: { latest, history: { attribution, fetchHistory } },
      onEvent: (event) => events.push(event),
    },
  )
  /** By default as often as after two milliseconds of work. */
  async function turn(times = 6): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      for (const callback of turns.splice(0)) callback()
      await settled()
    }
  }
  const ask = (target: string, { method = 'GET', signal, ifNoneMatch }: Asked = {}) => {
    const header = (name: string) => (name === 'if-none-match' ? ifNoneMatch : undefined)
    return answer({ method, target, header, signal })
  }
  /** The answers to `targets` so far, in their order. */
  async function askAll(targets: readonly string[], asked?: Asked): Promise<RawResponse[]> {
    const answers: RawResponse[] = []
    for (const target of targets) void ask(target, asked).then((given) => answers.push(given))
    await settled()
    return answers
  }
  // Some modules are loaded with the first question that needs them.
  const first = [`${EXPENSIVE[0]}&format=csv`, `${ONE}&date=2004-01-08`, ...CHEAP]
  for (const target of isCold ? [] : first) {
    const asked = ask(target)
    const isAnswered = { yet: false }
    void asked.then(() => (isAnswered.yet = true))
    while (!isAnswered.yet) await turn()
    await turn()
  }
  work.count = 0
  return { runtime, work, events, refresh, turn, ask, askAll }
}

function header(answer: RawResponse | undefined, wanted: string): string | undefined {
  return answer?.headers.find(([name]) => name === wanted)?.[1]
}

describe('expensive work', () => {
  it.each(EXPENSIVE)('waits for another turn of the event loop: %s', async (target) => {
    const { ask, askAll, turn } = await start()
    await ask(large(0))
    const answers = await askAll([target])
    expect(answers).toEqual([])
    await turn()
    expect(answers).toMatchObject([{ status: 200 }])
  })

  it('keeps nothing else waiting, nor what has been computed before', async () => {
    const { ask, askAll, turn } = await start()
    await ask(large(0))
    await turn()
    await askAll([large(1), large(2)])
    expect(await askAll([...CHEAP, large(0)])).toHaveLength(CHEAP.length + 1)
  })

  it('is done in its order, failures too', async () => {
    const { askAll, turn } = await start()
    const unknown = large(9).replace('USD', 'XXX')
    const answers = await askAll([large(0), large(1), unknown, large(2)])
    const counts = []
    for (let count = 0; count < 4; count += 1) {
      counts.push(answers.length)
      await turn()
    }
    // A failure takes less time.
    expect(counts).toEqual([1, 2, 4, 4])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 200])
    expect(new Set(answers.map((answer) => header(answer, 'etag'))).size).toBe(4)
  })

  it.each<[Asked, number]>([
    [{ method: 'HEAD' }, 200],
    [{ ifNoneMatch: '*' }, 304],
  ])('waits for %j as well', async (asked, status) => {
    const { askAll, turn } = await start()
    const answers = await askAll([large(0), large(1)], asked)
    expect(answers).toHaveLength(1)
    await turn()
    expect(answers.map((answer) => [answer.status, answer.body])).toEqual([
      [status, null],
      [status, null],
    ])
  })

  it.each([
    [10, 30],
    [100, 64],
  ])('of %d ms leaves as much time to all else, or %d turns', async (duration, turns) => {
    const { askAll, turn, work } = await start()
    work.duration = duration
    const answers = await askAll([large(0), large(1), large(2)])
    await turn(turns - 1)
    expect(answers).toHaveLength(1)
    await turn(1)
    expect(answers).toHaveLength(2)
    work.spent += duration - 1
    await turn(1)
    expect(answers).toHaveLength(2)
    work.spent += 1
    await turn(1)
    expect(answers).toHaveLength(3)
  })

  it('is done for two milliseconds in a turn, where it takes less', async () => {
    const { askAll, turn, work } = await start()
    work.duration = 0.6
    const answers = await askAll(Array.from({ length: 10 }, (_, index) => large(index)))
    expect(answers).toHaveLength(4)
    work.duration = 0
    await turn(8)
    expect(answers).toHaveLength(10)
  })

  it('is done once for all who wait for the same', async () => {
    const { askAll, turn, work } = await start()
    const answers = await askAll([large(0), large(1), `${large(1)}&x=1`, large(1)])
    await turn()
    expect(new Set(answers.map(({ body }) => body)).size).toBe(2)
    expect(answers).toHaveLength(4)
    expect(work.count).toBe(2)
  })

  it('is not remembered for data that have come meanwhile', async () => {
    const { ask, askAll, runtime, refresh, turn } = await start()
    const target = `${PAIR}&period=5Y`
    const answers = await askAll([target.replace('USD', 'EUR'), target])
    runtime.setClock(NOW + DAY_MS)
    await refresh()
    await ask(`${PAIR}&period=1Y`)
    await turn(12)
    const again = await ask(target)
    expect(again.body).toEqual(answers[1]?.body)
    expect(again.body).not.toBe(answers[1]?.body)
  })

  it('is left undone where every client has left', async () => {
    const { ask, askAll, turn, work, runtime, events } = await start()
    const listeners = await listenersLeftBy(async () => {
      const [leaving, alsoLeaving] = [new AbortController(), new AbortController()]
      await askAll([large(0)])
      const gone = await askAll([large(1), large(2)], leaving)
      await askAll([large(1)], alsoLeaving)
      const answers = await askAll([large(2), large(3)])
      leaving.abort()
      alsoLeaving.abort()
      await turn(18)
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(gone).toHaveLength(2)
      await ask(large(4), { signal: AbortSignal.abort() })
    })
    expect(work.count).toBe(3)
    expect([listeners, runtime.timers(), events.length]).toEqual([0, 0, events.length])
    expect(events.map(({ type }) => type)).not.toContain('overloaded')
  })

  it('goes on where a turn never comes', async () => {
    const { askAll, runtime } = await start()
    const answers = await askAll([large(0), large(1)])
    await runtime.advance(1_001)
    await askAll([large(2)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  it('is not limited on Cloudflare Workers, whose timers end with their request', async () => {
    onTestFinished(() => void vi.unstubAllGlobals())
    const { askAll } = await start()
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    expect(await askAll([large(0), large(1), large(2)])).toHaveLength(3)
  })
})

describe('a refusal', () => {
  const MESSAGE = 'The server is overloaded. Please retry shortly.'

  it.each([
    [0, '1'],
    [0.99, '5'],
  ])('comes at once where 1,000 wait: %d', async (random, retryAfter) => {
    const { ask, askAll, events } = await start({ random })
    await askAll(Array.from({ length: 1_001 }, (_, index) => large(index)))
    const refused = await ask(large(1_001))
    expect(refused).toMatchObject({ status: 503, matched: true })
    expect(refused.body).toBe(JSON.stringify({ error: { code: 'overloaded', message: MESSAGE } }))
    expect(header(refused, 'retry-after')).toBe(retryAfter)
    expect(header(refused, 'cache-control')).toBe('no-store')
    expect(header(refused, 'access-control-allow-origin')).toBe('*')
    expect(await ask(large(1_001), { method: 'HEAD' })).toEqual({ ...refused, body: null })
    const unversioned = await ask((EXPENSIVE.at(-1) ?? '').replace('/v1', ''))
    expect(unversioned).toMatchObject({ status: 503, body: JSON.stringify({ error: MESSAGE }) })
    const event = { type: 'overloaded', waiting: 1_000 }
    expect(events.slice(-3)).toEqual([event, event, event])
    // What waits already may be waited for, and what is cheap is answered.
    expect(await askAll([large(1_000), large(0), ...CHEAP])).toHaveLength(CHEAP.length + 1)
  })

  it('comes after three seconds of waiting', async () => {
    const { askAll, runtime, turn, work, events } = await start()
    work.duration = 5_000
    const answers = await askAll(Array.from({ length: 19 }, (_, index) => large(index)))
    for (const time of [900, 900, 900, 299]) {
      await runtime.advance(time)
      await turn()
    }
    await askAll([large(19)])
    expect(answers).toHaveLength(1)
    await runtime.advance(1)
    // Not all in one turn.
    expect(answers).toHaveLength(17)
    await turn()
    expect(new Set(answers.slice(1).map(({ status }) => status))).toEqual(new Set([503]))
    expect(events.filter(({ type }) => type === 'overloaded')).toHaveLength(18)
    await runtime.advance(3_000)
    expect(runtime.timers()).toBe(0)
  })

  it('comes after half a second where the request has waited for data', async () => {
    const { askAll, runtime, turn } = await start({ isCold: true })
    const answers = await askAll([large(0), large(1), large(2)])
    // All days are loaded in several turns.
    await vi.waitFor(async () => {
      if (answers.length === 0) await turn()
      expect(answers).toHaveLength(1)
    })
    await runtime.advance(499)
    expect(answers).toHaveLength(1)
    await runtime.advance(1)
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 503])
  })
})
