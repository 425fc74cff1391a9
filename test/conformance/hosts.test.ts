import type { RatesHandler } from 'ratesmith'
import { mountContract } from 'ratesmith/testing'
import { describe, expect, it } from 'vitest'

import { ask } from '../catalogue/catalogue.ts'
import type { Question, Reply } from '../catalogue/catalogue.ts'
import { HOSTS, runHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import { createConformanceHandler } from './market.ts'
import { conformanceQuestions } from './requests.ts'

describe.each(HOSTS)('$name', (host) => {
  const { prefix = '', openClient } = host
  const running = runHost(host)

  // `fetch` speaks HTTP/1.1 alone.
  const cases = openClient
    ? []
    : mountContract(() => ({ url: `http://127.0.0.1:${running.port}${prefix}/api` }))
  it.each(cases)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('answers every question as the handler does, to the byte', async () => {
    const handler = createConformanceHandler(`${prefix}/api`)
    await handler.refresh()
    const faults: string[] = []
    const questions = await conformanceQuestions(handler, prefix)
    expect(questions.length).toBeGreaterThan(900)
    for (const question of questions) {
      const outcome = await running.client.ask(question).catch((error: Error) => error)
      const fault = await findFault(host, handler, question, outcome)
      if (fault !== undefined) faults.push(fault)
    }
    expect(faults).toEqual([])
  })
})

const handler = createConformanceHandler('/api')

/** What frameworks pass beside the request, or around it. */
function eventOf(request: Request) {
  const url = new URL(request.url)
  return { request, url, params: { path: url.pathname.slice('/api/'.length) }, locals: {} }
}

const fallback = ({ request }: { request: Request }): Promise<Response> => handler(request)

/** Next.js calls one function for each method, with a second argument. */
const route: Record<string, (request: Request, context: object) => Promise<Response>> =
  Object.fromEntries(
    'GET HEAD OPTIONS POST PUT PATCH DELETE'.split(' ').map((method) => [method, handler]),
  )

describe.each<[string, (request: Request) => Response | Promise<Response>]>([
  ['Next.js', (request) => route[request.method]?.(request, eventOf(request)) ?? Response.error()],
  // So do Astro (`ALL`) and React Router (`loader` and `action`).
  ['SvelteKit', (request) => fallback(eventOf(request))],
])('in the functions of %s', (_, fetch) => {
  it.each(mountContract(() => ({ url: 'http://localhost/api', fetch })))(
    '$name',
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined()
    },
  )
})

/** An answer, or why there was none. */
type Outcome = Reply | Error

/** Headers that each server sets for its connections. */
const CONNECTION_HEADERS = /^(connection|content-length|date|keep-alive|transfer-encoding)$/

/** A server may refuse a request whose head has more bytes than this; Node's own limit is twice as much. */
const LARGEST_HEAD = 8_000

/** How much of an answer is shown where it is not the right one. */
const SHOWN = 400

/** What is wrong about the answer of `host` to `question`, or nothing: it must be that of `handler`, to the byte. */
async function findFault(
  host: Host,
  handler: RatesHandler,
  question: Question,
  outcome: Outcome,
): Promise<string | undefined> {
  const { method, target } = question
  const expected = await ask(handler, question, 'answer')
  const { matched } = await handler.answer({ method, target, header: () => null })
  const isSame = toText(outcome) === toText(expected) && hasRightLength(outcome, expected)
  const mustBeApps = host.scope === 'own' && !matched
  if (isSame && !mustBeApps) return undefined
  if (mayBeRefused(question, outcome)) return undefined
  if (!matched && mayBeApps(host, target, outcome) && !isSame) return undefined
  const [got, wanted] = [outcome, expected].map((each) => toText(each).slice(0, SHOWN))
  return `${method} ${target.slice(0, 100)}: got ${got}\ninstead of ${mustBeApps ? 'the app’s own' : wanted}`
}

/** Whether the `Content-Length` of `outcome` is that of the body it has, or would have if it were not for `HEAD`. */
function hasRightLength(outcome: Outcome, expected: Reply): boolean {
  if (outcome instanceof Error) return false
  const { status, headers } = outcome
  const sent = headers['content-length']
  if (sent === undefined) return true
  const length = expected.headers['content-length'] ?? String(Buffer.byteLength(expected.body))
  return sent === length && status !== 204 && status !== 304
}

/** Whether a server may refuse the request before anybody else sees it, and has. */
function mayBeRefused({ method, target, headers }: Question, outcome: Outcome): boolean {
  const size = JSON.stringify([target, headers]).length
  // No server has heard of the method.
  if (size <= LARGEST_HEAD && method !== 'FOO') return false
  return outcome instanceof Error || [400, 413, 414, 431, 501].includes(outcome.status)
}

/** Whether this is for the app to answer, in which the handler is mounted, and is a harmless answer of its kind. */
function mayBeApps({ scope, prefix = '' }: Host, target: string, outcome: Outcome): boolean {
  if (scope === 'all' || outcome instanceof Error) return false
  const { status, headers, body } = outcome
  const [path = ''] = target.split('?', 1)
  // Some frameworks refuse such a path themselves.
  const isMalformed = !isDecodable(path)
  const isPassedOn = scope === 'own' || isMalformed || !path.startsWith(`${prefix}/api/`)
  const isHarmless =
    !/\bat .+:\d+:\d+/.test(body) &&
    headers['access-control-allow-origin'] === undefined &&
    !/public|max-age/.test(headers['cache-control'] ?? '')
  return isPassedOn && isHarmless && (status === 404 || (status === 400 && isMalformed))
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== undefined
  } catch {
    return false
  }
}

/** All that must be the same; the moment of the next refresh, which is drawn by lot, is left out. */
function toText(outcome: Outcome): string {
  if (outcome instanceof Error) return String(outcome)
  const headers = Object.entries(outcome.headers)
    .filter(([name]) => !CONNECTION_HEADERS.test(name))
    .map(([name, value]) => `${name}: ${value}`)
  return [outcome.status, ...headers.sort(), '', outcome.body]
    .join('\n')
    .replace(/(ttl=|"nextAttemptAt":)\d+/g, '$1…')
}
