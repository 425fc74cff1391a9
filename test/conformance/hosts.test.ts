import { mountContract } from 'ratesmith/testing'
import { describe, expect, it } from 'vitest'

import { HOSTS, runHost } from './hosts.ts'
import { findFault } from './judge.ts'
import { createConformanceHandler } from './market.ts'
import { conformanceQuestions } from './questions.ts'

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
