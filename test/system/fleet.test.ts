import { setTimeout as sleep } from 'node:timers/promises'

import { request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'

import { CLIENTS } from '../../bench/load/clients.ts'
import { createLoopbackUpstream } from '../../bench/load/loopback-upstream.ts'
import type { UpstreamCall } from '../../bench/load/loopback-upstream.ts'
import { startServer } from '../../bench/load/servers.ts'
import type { StartedServer } from '../../bench/load/servers.ts'
import { createTurningClock } from '../../bench/load/turning-clock.ts'
import type { ClockSettings, TurningClock } from '../../bench/load/turning-clock.ts'
import { pick } from './pick.ts'
import { listen } from './processes.ts'
import { IS_SHORT } from './proofs.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'

const PROCESSES = 8
const REFRESHES = IS_SHORT ? 6 : 20

const LONELY_REFRESHES = 4

/** For how long turns wait for the processes to start, in ms. */
const LEAD = 4_000

/** Every process is asked again so many ms after its answer. */
const REST = 15

/** How far a turn has to be, in ms of a second, for everybody to have its table. */
const LATE = 800

/** How long a claim lasts, in ms, and what its end may be late by: the longest pause of those who were refused it. */
const CLAIM = 20_000
const LONGEST_PAUSE = 24_000

// Needs a quiet machine: eight processes must each answer within every second of a common clock.
describe.skipIf(REDIS_IS_MISSING)('a fleet on one Redis (skipped without redis-server)', () => {
  it('makes one upstream call for a refresh, and without Redis one a process', async () => {
    // Who is refused the claim looks again after 2 to 3 s: with a nap that is the second half of the turn.
    const fleet = await startFleet(PROCESSES, { turn: 1_000, nap: 4_000 })
    const { clock, redis, calls, visits } = fleet
    const first = await startOfTurn(clock)
    fleet.visitAll()
    await reached(clock, first + REFRESHES, LATE)
    await redis.kill()
    const end = first + 1 + REFRESHES + LONELY_REFRESHES
    await reached(clock, end)
    await fleet.leave()

    const shared = turnsFrom(first, 1 + REFRESHES)
    expect(countByTurn(calls, shared)).toEqual(shared.map(() => 1))
    for (const count of countByTurn(calls, turnsFrom(first + 1 + REFRESHES, LONELY_REFRESHES))) {
      expect(count).toBeGreaterThanOrEqual(1)
      expect(count).toBeLessThanOrEqual(PROCESSES)
    }
    expectGoodAnswers(visits)
    for (const turn of turnsFrom(first, end - first)) expectPublication(fleet, turn)
  })

  it('goes on with a refresh when the process that is at it is killed', async () => {
    const speed = 20
    let first = Infinity
    let victim: string | undefined
    const fleet = await startFleet(4, { turn: 3_500, speed }, ({ by, turn }) => {
      if (turn <= first) return false
      victim ??= by
      return by === victim
    })
    const { clock, calls, servers, visits } = fleet
    first = await startOfTurn(clock)
    fleet.visitAll()
    await expect.poll(() => victim, { interval: 5, timeout: 120_000 }).toBeDefined()
    await servers.get(victim ?? '')?.kill()
    await reached(clock, first + 2)
    await fleet.leave()

    const [killed, successor, ...others] = calls.filter(({ turn }) => turn === first + 1)
    expect(others).toEqual([])
    expect(successor?.by).not.toBe(killed?.by)
    const gap = (Number(successor?.at) - Number(killed?.at)) * speed
    expect(gap).toBeGreaterThan(0.9 * CLAIM)
    expect(gap).toBeLessThan(CLAIM + LONGEST_PAUSE)
    servers.delete(victim ?? '')
    expectGoodAnswers(visits)
    expectPublication(fleet, first + 1)
  })
})

/** An answer of the process `of` to a question for the whole table, and the clock's turn when it came. */
interface Visit {
  of: string
  turn: number
  status: number
  text: string
}

async function startFleet(
  size: number,
  pace: Pick<ClockSettings, 'turn' | 'speed' | 'nap'>,
  isParked?: (call: UpstreamCall) => boolean,
) {
  const settings = { origin: Date.now() + LEAD, ...pace }
  const clock = createTurningClock(settings)
  const redis = await startRedis()
  onTestFinished(() => redis.kill())
  const { calls, listener } = createLoopbackUpstream(clock, isParked)
  const { url } = await listen(listener)
  const start = async (_: unknown, index: number): Promise<[string, StartedServer]> => {
    const name = `p${index}`
    const server = await startServer({
      client: pick(CLIENTS, index),
      redis: redis.url,
      clock: settings,
      sleeps: true,
      upstream: `${url}/${name}`,
    })
    onTestFinished(server.kill)
    return [name, server]
  }
  const servers = new Map(await Promise.all(Array.from({ length: size }, start)))
  const visits: Visit[] = []
  const leaving = new AbortController()
  let visitors: Promise<void>[] = []
  return {
    clock,
    redis,
    servers,
    calls,
    visits,
    /** Begins to ask every process again and again, for as long as it lives. */
    visitAll(): void {
      visitors = [...servers].map(async ([of, server]) => {
        for (;;) {
          const answer = await visit(server)
          if (!answer || leaving.signal.aborted) return
          visits.push({ of, turn: clock.turn(), ...answer })
          await sleep(REST)
        }
      })
    },
    /** Ends that. */
    async leave(): Promise<void> {
      leaving.abort()
      await Promise.all(visitors)
    },
  }
}

/** The answer of a server, or nothing where it has been killed. */
async function visit(server: StartedServer): Promise<Pick<Visit, 'status' | 'text'> | undefined> {
  try {
    const { statusCode, body } = await request(`${server.url}/api/v1/latest?base=EUR`)
    return { status: statusCode, text: await body.text() }
  } catch (error) {
    if (server.process.killed) return undefined
    throw error
  }
}

/** The present turn where it has long to go, which is the very first; else the next one, when it begins. */
async function startOfTurn(clock: TurningClock): Promise<number> {
  if (clock.sinceTurn() < 0) return clock.turn()
  const next = clock.turn() + 1
  await reached(clock, next)
  return next
}

/** Resolves when `turn` has begun, and is so many ms old. */
async function reached(clock: TurningClock, turn: number, age = 0): Promise<void> {
  while (clock.turn() < turn || (clock.turn() === turn && clock.sinceTurn() < age)) await sleep(1)
}

function turnsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

function countByTurn(calls: UpstreamCall[], turns: number[]): number[] {
  return turns.map((each) => calls.filter(({ turn }) => turn === each).length)
}

/** All are 200, and those that tell the same publication are the same to the byte. */
function expectGoodAnswers(visits: Visit[]): void {
  const texts = new Map<number, string>()
  for (const { of, status, text } of visits) {
    expect(status, of).toBe(200)
    const { updatedAt }: { updatedAt: number } = JSON.parse(text)
    expect(text, of).toBe(texts.get(updatedAt) ?? text)
    texts.set(updatedAt, text)
  }
}

/** At the end of `turn` every process has its table. */
function expectPublication(
  { clock, servers, visits }: Awaited<ReturnType<typeof startFleet>>,
  turn: number,
): void {
  for (const name of servers.keys()) {
    const last = visits.findLast((visit) => visit.of === name && visit.turn === turn)
    const { updatedAt }: { updatedAt: number } = JSON.parse(last?.text ?? '{}')
    const published = Math.floor(clock.turnedAt(turn) / 1_000) * 1_000
    expect(updatedAt, `${name} in turn ${turn}`).toBe(published)
  }
}
