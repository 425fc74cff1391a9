import { expect } from 'vitest'

import { expectRefusal } from './answers.ts'
import type { Meeting, State, Variant } from './case.ts'
import { TARGETS, ask, askAll } from './journey.ts'
import { answer } from './upstream.ts'
import type { HistoryBody } from './upstream.ts'
import type { Reply, World } from './world.ts'

const SECOND = 1_000

type Rates = HistoryBody['rates']
type Row = [date: string, rates: Rates[string]]

/** The place of a day among others, ascending. */
interface Place {
  date: string
  /** 0 for the newest. */
  fromEnd: number
}

/** `rates` with every day changed. */
export function mapDays(
  rates: Rates,
  change: (day: Rates[string], place: Place) => Rates[string],
): Rates {
  const days = Object.entries(rates)
  return Object.fromEntries(
    days.map(([date, day], index) => [
      date,
      change(day, { date, fromEnd: days.length - 1 - index }),
    ]),
  )
}

/** `body` with its days in another order. */
export function reordered(body: HistoryBody, order: (days: Row[]) => Row[]): HistoryBody {
  return { ...body, rates: Object.fromEntries(order(Object.entries(body.rates))) }
}

/** `body` with USD at a hundred times its rate on the day before the newest. */
export function withSpike(body: HistoryBody): HistoryBody {
  const rates = mapDays(body.rates, (day, { fromEnd }) =>
    fromEnd === 1 ? { ...day, USD: (day['USD'] ?? NaN) * 100 } : day,
  )
  return { ...body, rates }
}

/** A form in which the newest day comes twice: as it is, and with another rate of USD. */
export function twice(name: string, isRightLast: boolean): Variant {
  return {
    name,
    dataSets: ['history'],
    verdict: 'accepted',
    inject({ good }) {
      const body: HistoryBody = JSON.parse(good)
      const rows = Object.entries(body.rates)
      const [right = '', wrong = ''] = [rows, Object.entries(wrongOnNewest(body).rates)].map(
        (all) => toText(all.slice(-1)),
      )
      const others = toText(rows.slice(0, -1))
      const newest = isRightLast ? [wrong, right] : [right, wrong]
      const all = [others, ...newest].filter((text) => text !== '')
      return answer(`{"amount":1.0,"base":"EUR","rates":{${all.join()}}}`)
    },
    serves: { history: (body) => (isRightLast ? body : wrongOnNewest(body)).rates },
  }
}

/** A form in which a provider lists the newest day once more, with another rate of USD. */
export const listedTwice: Variant = {
  name: 'a provider that lists it twice',
  dataSets: ['history'],
  verdict: 'accepted',
  told: ['rates_dropped'],
  retell({ base, days }) {
    const again = days
      .slice(-1)
      .map(({ date, rates }) => ({ date, rates: { ...rates, USD: 1.25 } }))
    return { base, days: [...days, ...again] }
  },
  serves: { history: (body) => wrongOnNewest(body).rates },
}

function wrongOnNewest(body: HistoryBody): HistoryBody {
  const rates = mapDays(body.rates, (day, { fromEnd }) =>
    fromEnd === 0 ? { ...day, USD: 1.25 } : day,
  )
  return { ...body, rates }
}

function toText(rows: Row[]): string {
  return JSON.stringify(Object.fromEntries(rows)).slice(1, -1)
}

/** The answer with two digits of every number, as for another base than the published one. */
export function coarse(good: string): string {
  return good.replaceAll(/\d+\.\d+/g, (digits) => String(Number(Number(digits).toPrecision(2))))
}

/** Demands that a rate of small numbers has kept its steps. */
export async function expectFineSteps({ world }: Meeting): Promise<void> {
  const [reply] = await ask(world, ['/api/v1/history?from=IDR&to=EUR&period=1M'])
  const { points } = JSON.parse(reply?.body ?? '')
  const steps = new Set(points.map(({ r }: { r: number }) => r))
  expect(steps.size).toBeGreaterThan(15)
}

/** Demands that both sides of the spike are told of. */
export function expectJumpsAreTold({ world, state, now }: Meeting): void {
  if (state === 'fresh') return
  const [dayAfter, day] = Object.keys(now?.days ?? {})
    .toSorted()
    .toReversed()
  expect(world.service.events.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({
      type: 'rates_jumped',
      dataSet: 'history',
      jumps: [`${day} USD`, `${dayAfter} USD`],
    }),
  )
}

/** Asks for currencies that have left, which is refused in every state, behind the usual questions. */
export async function askForThoseWhoLeft(world: World): Promise<Reply[]> {
  const replies = await askAll(world)
  const left = await ask(
    world,
    ['BGN', 'HRK', 'RUB'].flatMap((code) => [
      `/api/v1/history?from=${code}&to=EUR`,
      `/api/v1/history?from=USD&to=${code}&period=5Y`,
    ]),
  )
  for (const reply of left) {
    const code = /BGN|HRK|RUB/.exec(reply.target)?.[0] ?? ''
    expectRefusal(reply, 400, code)
    expect(JSON.parse(reply.body).error.code).toBe('unsupported_currency')
  }
  return replies
}

/** Asks everything, and for history once more while the relay is still answering. */
export async function askBetween({ machine, service }: World, state: State): Promise<Reply[]> {
  const askFor = (targets: readonly string[]): Promise<Reply[]> =>
    Promise.all(targets.map((target) => service.ask(target)))
  const again = new Promise<Reply[]>((resolve) => {
    const targets = TARGETS.filter((target) => target.includes('/history'))
    machine.after(SECOND, () => resolve(askFor(targets)))
  })
  const replies = await machine.drive(Promise.all([askFor(TARGETS), again]), 10 * SECOND)
  expect(new Set(replies.flat().map(({ waited }) => waited))).toEqual(
    new Set(state === 'cold' || state === 'expired' ? [0, 2 * SECOND, SECOND] : [0]),
  )
  return replies.flat()
}
