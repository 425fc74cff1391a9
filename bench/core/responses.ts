import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { codecs } from '../../src/cli/codecs.ts'
import { withCompression } from '../../src/compression/with-compression.ts'
import type { Comparison } from './comparison.ts'

/** The clock stands still, so that nothing is refreshed meanwhile: a Friday evening in Frankfurt. */
export const NOW: number = Date.UTC(2026, 10, 20, 18)

const LATEST = '/api/v1/latest?base=EUR'
const HISTORY = '/api/v1/history?from=USD&to=JPY&period=5Y'

/** Answers that are remembered, as a `Response` and as data, beside the making of that `Response`. */
export async function rememberedAnswers(): Promise<Comparison[]> {
  const handler = createHandler()
  const latest = await remembered(handler, LATEST)
  const history = await remembered(handler, HISTORY)
  const compressed = withCompression(handler, codecs)
  const inBrotli = { ...request(LATEST), header: brotliOnly }
  return [
    {
      name: 'latest, remembered: `handler(request)`',
      ours: latest.whole,
      reference: latest.reference,
      goal: 1.3,
    },
    {
      name: 'latest, remembered: `handler.answer()`',
      ours: latest.data,
      reference: latest.reference,
    },
    {
      name: 'latest, remembered in brotli: `answer()` of the standalone server',
      ours: () => compressed.answer(inBrotli),
      reference: latest.reference,
    },
    {
      name: 'history 5Y, remembered: `handler(request)`',
      ours: history.whole,
      reference: history.reference,
    },
    {
      name: 'history 5Y, remembered: `handler.answer()`',
      ours: history.data,
      reference: history.reference,
    },
  ]
}

/** A conversion of an amount that was never asked for, as data, beside the making of its `Response`. */
export async function freshConversion(): Promise<Comparison> {
  const handler = createHandler()
  const path = '/api/v1/convert?from=USD&to=JPY&amount='
  const { reference } = await remembered(handler, `${path}1.25`)
  let amount = 0
  return {
    name: 'conversion, computed: `handler.answer()`',
    ours: () => handler.answer(request(`${path}${(amount += 1)}.25`)),
    reference,
    goal: 0.6,
  }
}

function brotliOnly(name: string): string | undefined {
  return name === 'accept-encoding' ? 'gzip, deflate, br' : undefined
}

interface Remembered {
  whole: () => Promise<Response>
  data: () => Promise<unknown>
  reference: Comparison['reference']
}

async function remembered(handler: RatesHandler, target: string): Promise<Remembered> {
  const asked = new Request(`http://localhost${target}`)
  await handler(asked)
  // Its headers are those of what is remembered.
  const response = await handler(asked)
  if (response.status !== 200) throw new Error(`${target} is answered with ${response.status}`)
  const headers = Object.fromEntries(response.headers)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    whole: () => handler(asked),
    data: () => handler.answer(request(target)),
    reference: {
      name: `\`new Response\` of ${bytes.byteLength.toLocaleString('en')} bytes`,
      run: () => new Response(bytes, { headers }),
    },
  }
}

function createHandler(): RatesHandler {
  return createRatesHandler({ providers: fakeProviders(), now: () => NOW })
}

/** A request without headers. */
export function request(target: string): Parameters<RatesHandler['answer']>[0] {
  return { method: 'GET', target, header: () => undefined }
}
