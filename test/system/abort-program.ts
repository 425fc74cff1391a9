// Aborts requests when only the response bodies are still referenced, and prints the outcomes as JSON. Needs
// `--expose-gc`.
import { createServer } from 'node:http'

import { createRatesClient } from 'ratesmith/client'
import { providerContract } from 'ratesmith/testing'

import { collectGarbage } from './collect-garbage.ts'
import { listenOnFreePort } from './sockets.ts'

/** Calls until the engine has optimised the code, and then keeps no unnecessary references. */
const WARM_UP_CALLS = 10_000

const collecting = setInterval(collectGarbage, 10)

process.stdout.write(JSON.stringify([await abortClient(), await abortProvider()]))
clearInterval(collecting)

/** Aborts a call of a client, during an endless response, after collections that could have removed the request. */
async function abortClient(): Promise<string> {
  const { promise: isAsked, resolve } = Promise.withResolvers<void>()
  const server = createServer((_request, response) => void response.write('{', () => resolve()))
  const port = await listenOnFreePort(server)
  const controller = new AbortController()
  let calls = 0
  const client = createRatesClient({
    baseUrl: `http://127.0.0.1:${port}/api`,
    fetch: (request) =>
      calls < WARM_UP_CALLS ? Response.json({ base: 'USD', rates: {} }) : fetch(request),
  })
  for (; calls < WARM_UP_CALLS; calls += 1) await client.latest()
  const outcome = nameOf(client.latest({ signal: controller.signal }))
  await isAsked
  for (let round = 0; round < 20; round += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    collectGarbage()
  }
  controller.abort()
  const first = await outcome
  server.closeAllConnections()
  server.close()
  return first
}

async function abortProvider(): Promise<string> {
  const cases = providerContract({
    latest: () => ({
      attribution: { name: 'Rates', url: 'https://rates.example' },
      fetchLatest: async ({ fetch, signal }) =>
        (await fetch('https://rates.example', { signal })).json(),
    }),
    fetch: () => Response.json({}),
  })
  const aborting = cases.filter(({ name }) => name.includes('signal'))
  if (aborting.length === 0) throw new Error('the contract has no case about the signal')
  for (const { run } of aborting) {
    const outcome = await nameOf(run())
    if (outcome !== 'done') return outcome
  }
  return 'done'
}

function nameOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: Error) => error.name,
  )
}
