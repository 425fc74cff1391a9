import type { AnswerWatch, Asked } from '../invariants/answer-watch.ts'
import type { BoundsWatch } from '../invariants/bounds-watch.ts'
import type { Question } from '../invariants/question.ts'
import type { Violate } from '../invariants/violation.ts'
import type { Answer } from '../../../src/http/answer.ts'
import type { EventLoop } from './event-loop.ts'
import type { Fleet, Server } from './fleet.ts'
import type { LatestFeed } from './latest-feed.ts'
import { drawQuestion, plainQuestion } from './questions.ts'
import type { Random } from './random.ts'
import type { Settings } from './settings.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

/** Those who ask. */
export interface Clients {
  /** How many questions were put. */
  count(): number
  /** The questions that have not been answered yet, by processes that still are. */
  pending(): Asked[]
  /** Puts a question for each data set to every server. */
  askEverybody(): void
  /** No more questions are put. */
  stop(): void
}

/** What clients are made from. */
export interface ClientsOptions extends Settings {
  loop: EventLoop
  random: Random
  fleet: Fleet
  feed: LatestFeed
  watch: AnswerWatch
  bounds: BoundsWatch
  trace(asked: Asked, answer: Answer): void
  violate: Violate
}

/** Clients that ask at random times all the time, and in bursts when a refresh is due. */
export function createClients(options: ClientsOptions): Clients {
  const { loop, random, fleet, feed, watch, bounds, violate } = options
  const { hosts, requests, startsAt, calmFrom } = options
  const pending = new Set<Asked>()
  let [count, isOver] = [0, false]

  function ask(server: Server, question: Question, signal?: AbortSignal): Asked {
    count += 1
    const asked = watch.ask(server.process, question)
    pending.add(asked)
    void awaitAnswer(server, asked, signal)
    return asked
  }

  async function awaitAnswer(
    server: Server,
    asked: Asked,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      const answer = await send(server, asked, signal)
      options.trace(asked, answer)
      watch.answered(asked, answer)
    } catch (error) {
      violate('I1', `${asked.question.target} makes the handler reject: ${String(error)}`)
    }
    pending.delete(asked)
  }

  async function send(
    { handler }: Server,
    asked: Asked,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const { method, target, ifNoneMatch } = asked.question
    if (random.chance(0.95)) {
      const header = (name: string): string | undefined =>
        name === 'if-none-match' ? ifNoneMatch : undefined
      const answer = await handler.answer({ method, target, header, signal })
      watch.given(asked)
      if (signal) bounds.answered(signal)
      return answer
    }
    const headers = new Headers(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch })
    const init = { method, headers, signal: signal ?? null }
    const response = await handler(new Request(`http://localhost${target}`, init))
    watch.given(asked)
    return toAnswer(response)
  }

  /** What comes to a paused process waits until it goes on. */
  function deliver({ process }: Server, work: () => void): void {
    if (process.pausedUntil > loop.now()) loop.after(0, work, process)
    else work()
  }

  /** Asks and gives up: before, while waiting, or after the answer. */
  function askAndAbort(server: Server, question: Question): void {
    const controller = new AbortController()
    const wait = random.pick([0, random.between(0, 300), random.between(0, 7 * SECOND)])
    if (wait === 0) controller.abort()
    const asked = ask(server, question, controller.signal)
    if (wait === 0) asked.abortedAt = loop.now()
    else {
      loop.after(wait, () => {
        asked.abortedAt = loop.now()
        controller.abort()
      })
    }
  }

  function askAnything(server: Server): void {
    const question = drawQuestion(random)
    if (random.chance(0.04)) askAndAbort(server, question)
    else ask(server, question)
  }

  /** At one host, as a Poisson process. */
  function keepAsking(host: number): void {
    loop.after(random.wait(DAY / requests), () => {
      if (isOver) return
      const server = fleet.servers[host]
      if (server) deliver(server, () => askAnything(server))
      keepAsking(host)
    })
  }

  /** Many at once when the next table is due. */
  function burst(): void {
    const due = feed.nextAnnounced(startsAt + loop.now()) - startsAt
    const at = Math.max(due - 10 * SECOND, loop.now()) + random.between(0, 6 * MINUTE)
    loop.after(at - loop.now(), () => {
      if (isOver) return
      const server = fleet.servers[random.whole(0, hosts - 1)]
      const size = Math.round(random.magnitude(2, 100))
      if (server) deliver(server, () => repeat(size, () => askAnything(server)))
      loop.after(random.wait(DAY), burst)
    })
  }

  /** When the faults have ended, often enough to see that all is well soon. */
  function keepTrying(until: number): void {
    askEverybody()
    if (loop.now() < until) loop.after(MINUTE, () => keepTrying(until))
  }

  function askEverybody(): void {
    for (const server of fleet.servers) {
      if (!server) continue
      deliver(server, () => {
        ask(server, plainQuestion('latest', random))
        ask(server, plainQuestion('history', random))
      })
    }
  }

  for (const host of fleet.clocks.keys()) keepAsking(host)
  burst()
  loop.after(calmFrom, () => keepTrying(calmFrom + 40 * MINUTE))
  return {
    count: () => count,
    pending() {
      for (const asked of pending) {
        if (asked.process.isGone) pending.delete(asked)
      }
      return [...pending]
    },
    askEverybody,
    stop() {
      isOver = true
    },
  }
}

async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response
  const body = response.body ? await response.text() : null
  return { status, headers: [...headers], body, matched: true }
}

function repeat(times: number, work: () => void): void {
  for (let done = 0; done < times; done += 1) work()
}
