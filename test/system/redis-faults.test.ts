import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { LoadLine } from './load-program.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { startCrossingProxy, troubles } from './redis-trouble.ts'
import type { Patient } from './redis-trouble.ts'
import type { ClientName, ServerReport, ServerSettings } from './server-program.ts'
import { startLoad, startServer } from './servers.ts'
import type { StartedServer } from './servers.ts'
import { createTurningClock } from './turning-clock.ts'
import type { TurningClock } from './turning-clock.ts'

/** Tried side by side, each with a Redis and servers of its own. */
const CLIENTS = ['ioredis', 'redis'] as const

/** Questions a second for each server. */
const RATE = 1_000

/** Everything is due anew after so many ms. */
const TURN = 1_500

/** How long troubles last, in ms: a turn at least; and, of a hanging Redis, more failures in a row than are put up with. */
const SHORT = 2_000
const LONG = 6_500

/** The store is left alone for 5 s, and then used when a refresh is due. In ms. */
const RECOVERY = 12_000

/** How much of a turn is left, at the least, for a question about its table, in ms. */
const TIME_TO_ASK = 700

/** A table in the store that is younger was stored in this turn, in ms. */
const YOUNG = 600_000

/** What came of all answers so far. */
interface Tally {
  statuses: Record<string, number>
  wrong: string[]
}

describe.skipIf(REDIS_IS_MISSING)('Redis in trouble (skipped without redis-server)', () => {
  it('is noticed by nobody who asks', () =>
    Promise.all(
      CLIENTS.map(async (client) => {
        const redis = await startPatient()
        const settings = settingsFor(client, redis.server.url)
        const clock = createTurningClock(settings.clock)
        const server = await startedServer(settings)
        const tally = await startedLoad(server)
        for (const trouble of troubles({ short: SHORT, long: LONG })) {
          const about = `${trouble.name}, ${client}`
          const before = await server.report()
          const newcomer = await startedServer(settings)
          await trouble.begin(redis)
          const answer = await answeredBy(newcomer)
          expect(answer.status, `${about}: a cold server's answer`).toBe(200)
          expect(answer.calls, `${about}: a cold server's calls`).toBeLessThanOrEqual(1)
          await newcomer.kill()
          await sleep(trouble.lasts)
          const during = await server.report()
          await trouble.end(redis)
          expect(failuresOf(during), `${about}: felt`).toBeGreaterThan(failuresOf(before))
          const cold = await startedServer(settings)
          await storedInThisTurn(redis, clock)
          expect(await answeredBy(cold), `${about}: over`).toEqual({ status: 200, calls: 0 })
          await cold.kill()
        }
        expectGoodAnswers(tally)
        expectFewCalls(await server.report(), clock)
      }),
    ))

  it('gives no answer to another question when it mixes up its replies', () =>
    Promise.all(
      CLIENTS.map(async (client) => {
        const redis = await startPatient()
        const settings = settingsFor(client, redis.server.url)
        const clock = createTurningClock(settings.clock)
        const writer = await startedServer(settings)
        await startedLoad(writer)
        await storedInThisTurn(redis, clock)
        const proxy = await startCrossingProxy(redis.server)
        onTestFinished(proxy.close)
        const server = await startedServer({ ...settings, redis: proxy.url })
        const tally = await startedLoad(server)
        await sleep(2 * TURN)
        const report = await server.report()
        // Both data sets when it was cold, and the table each time it was due.
        expect(report.refused).toBeGreaterThanOrEqual(3)
        expectGoodAnswers(tally)
        expectFewCalls(report, clock)
      }),
    ))
})

function settingsFor(client: ClientName, redis: string): ServerSettings {
  const clock = { origin: Date.now(), start: Date.UTC(2026, 10, 20, 18), turn: TURN }
  return { client, redis, clock }
}

async function startPatient(): Promise<Patient> {
  const patient = { server: await startRedis() }
  onTestFinished(() => patient.server.kill())
  return patient
}

async function startedServer(settings: ServerSettings): Promise<StartedServer> {
  const server = await startServer(settings)
  onTestFinished(server.kill)
  return server
}

/** Puts `server` under load, and resolves after the first answers. */
async function startedLoad({ url }: StartedServer): Promise<Tally> {
  const tally: Tally = { statuses: {}, wrong: [] }
  const add = ({ statuses, wrong }: LoadLine): void => {
    tally.wrong.push(...wrong)
    for (const [status, count] of Object.entries(statuses)) {
      tally.statuses[status] = (tally.statuses[status] ?? 0) + count
    }
  }
  const load = startLoad({ urls: [url], rate: RATE }, add)
  onTestFinished(load.kill)
  await expect.poll(() => tally.statuses['200'], { timeout: 20_000 }).toBeGreaterThan(0)
  return tally
}

function expectGoodAnswers({ statuses, wrong }: Tally): void {
  expect(wrong).toEqual([])
  expect(Object.keys(statuses)).toEqual(['200'])
}

/** One call for each time that the table was due, and one for history, which never was. */
function expectFewCalls({ calls, troubles }: ServerReport, clock: TurningClock): void {
  expect(troubles).toEqual([])
  expect(calls.latest).toBeGreaterThan(0)
  expect(calls.latest).toBeLessThanOrEqual(clock.turn() + 1)
  expect(calls.history).toBe(1)
}

function failuresOf({ storeFailures: { get, set, claim } }: ServerReport): number {
  return get + set + claim
}

/** Resolves when the store has this turn's table, and the turn lasts long enough for a question about it. */
async function storedInThisTurn({ server }: Patient, clock: TurningClock): Promise<void> {
  const client = new Redis(server.url)
  onTestFinished(() => client.disconnect())
  const isStored = async (): Promise<boolean> => {
    const text = await client.get('rates:v1:latest')
    const { savedAt }: { savedAt: number } = JSON.parse(text ?? '{"savedAt":0}')
    return clock.now() - savedAt < YOUNG && clock.sinceTurn() < TURN - TIME_TO_ASK
  }
  await expect.poll(isStored, { interval: 20, timeout: RECOVERY }).toBe(true)
  client.disconnect()
}

/** What a server answers to its first question, and how many upstream calls it makes of that. */
async function answeredBy(server: StartedServer): Promise<{ status: number; calls: number }> {
  const { statusCode: status, body } = await request(`${server.url}/api/v1/latest?base=EUR`)
  await body.dump()
  const { calls } = await server.report()
  return { status, calls: calls.latest + calls.history }
}
