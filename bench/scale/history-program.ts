// Requests the history of every pair from one handler in process and prints a `HistoryReport`.
import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { reportToParent, settingsFromParent } from '../../test/system/child.ts'
import { median } from '../figures.ts'
import { SEED } from '../wire/peer.ts'

export interface HistorySettings {
  /** Parameters that select the days. */
  days: string
}

export interface HistoryReport {
  /** Points of a response, and its length in bytes. */
  points: number
  bytes: number
  /** Median of the first response for each pair, and of the mean of the repeated ones, in µs. */
  first: number
  again: number
}

type Body = string | Uint8Array

const CODES = ['AUD', 'CAD', 'CHF', 'CZK', 'DKK', 'EUR', 'GBP', 'JPY', 'NOK', 'PLN', 'SEK', 'USD']
const AGAIN = 20

const { days }: HistorySettings = JSON.parse(settingsFromParent())

// Warms up the code with another handler, so that nothing is cached.
await measure(await createHandler())
const report = await measure(await createHandler())
reportToParent(report)

async function createHandler(): Promise<RatesHandler> {
  const handler = createRatesHandler({ providers: fakeProviders({ seed: SEED }) })
  await handler.refresh()
  return handler
}

async function measure(handler: RatesHandler): Promise<HistoryReport> {
  const firsts: number[] = []
  const agains: number[] = []
  let body: Body = ''
  for (const from of CODES) {
    for (const to of CODES.filter((code) => code !== from)) {
      const begunAt = performance.now()
      body = await fetchHistory(handler, from, to)
      const answeredAt = performance.now()
      for (let time = 0; time < AGAIN; time += 1) await fetchHistory(handler, from, to)
      firsts.push((answeredAt - begunAt) * 1_000)
      agains.push(((performance.now() - answeredAt) * 1_000) / AGAIN)
    }
  }
  handler.close()
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const { points }: { points: unknown[] } = JSON.parse(text)
  const [first, again] = [median(firsts), median(agains)]
  return { points: points.length, bytes: Buffer.byteLength(text), first, again }
}

async function fetchHistory(handler: RatesHandler, from: string, to: string): Promise<Body> {
  const target = `/api/v1/history?from=${from}&to=${to}&${days}`
  const { status, body } = await handler.answer({ method: 'GET', target, header: () => undefined })
  if (status !== 200 || body === null) throw new Error(`${target} has the status ${status}`)
  return body
}
