// Gives up requests of which nothing is held any more but their bodies, and prints what becomes of them, as JSON. Needs
// `--expose-gc`.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

import { createRatesClient } from 'ratesmith/client'
import { providerContract } from 'ratesmith/testing'

import { collectGarbage } from './collect-garbage.ts'

const outcomes = [await giveUpClient(), await giveUpProvider()]
process.stdout.write(JSON.stringify(outcomes))

/** A client whose answer never ends, after so many calls that the engine holds nothing for it that it need not. */
async function giveUpClient(): Promise<string> {
  const server = createServer((_request, response) => void response.write('{')).listen(
    0,
    '127.0.0.1',
  )
  await pause(50)
  const { port } = Object(server.address())
  let calls = 0
  const client = createRatesClient({
    baseUrl: `http://127.0.0.1:${port}/api`,
    fetch: (request) => (calls < 10_000 ? Response.json({ rates: {} }) : fetch(request)),
  })
  for (; calls < 10_000; calls += 1) await client.latest()
  const stopCollecting = startCollecting()
  const controller = new AbortController()
  const outcome = nameOf(client.latest({ signal: controller.signal }))
  await pause(200)
  controller.abort()
  const first = await Promise.race([outcome, pause(5_000, 'nothing')])
  stopCollecting()
  server.closeAllConnections()
  server.close()
  return first
}

/** A provider that does all it must, where its answer never ends. */
async function giveUpProvider(): Promise<string> {
  const cases = providerContract({
    latest: () => ({
      attribution: { name: 'Rates', url: 'https://rates.example' },
      fetchLatest: async ({ fetch, signal }) =>
        (await fetch('https://rates.example', { signal })).json(),
    }),
    fetch: () => Response.json({}),
  })
  const endless = cases.find(({ name }) => name.includes('without an end'))
  const stopCollecting = startCollecting()
  const outcome = await nameOf(endless?.run() ?? Promise.reject(new Error('no such case')))
  stopCollecting()
  return outcome
}

function startCollecting(): () => void {
  const collecting = setInterval(collectGarbage, 10)
  return () => clearInterval(collecting)
}

function nameOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: Error) => error.name,
  )
}
