import { SECRET } from './upstream-fault.ts'
import type { DataSet, Exchange, UpstreamFault } from './upstream-fault.ts'

const BOTH: readonly DataSet[] = ['latest', 'history']
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const PAGE = `<!doctype html><title>${SECRET}</title><h1>We will be back soon</h1>`

/** What goes wrong at the level of HTTP: statuses, redirects, and bodies that are no data at all. */
export const HTTP_FAULTS: readonly UpstreamFault[] = [
  withStatus(200, PAGE),
  withStatus(200, ''),
  withStatus(204, null),
  withStatus(401, PAGE, { pause: 15 * MINUTE }),
  withStatus(403, PAGE, { pause: 15 * MINUTE }),
  withStatus(404, '{"message":"not found"}', { pause: 15 * MINUTE }),
  withStatus(408, PAGE),
  withStatus(410, PAGE, { pause: 15 * MINUTE }),
  withStatus(429, PAGE, { pause: 20 * MINUTE }),
  withStatus(429, PAGE, { retryAfter: () => '1200', pause: 20 * MINUTE }),
  withStatus(429, PAGE, { retryAfter: () => '0', pause: 1_000 }),
  withStatus(429, PAGE, { retryAfter: () => '999999', pause: 6 * HOUR }),
  {
    ...withStatus(429, PAGE, {
      retryAfter: (instant) => new Date(instant + 2 * HOUR).toUTCString(),
    }),
    // A date is compared with the clock of whoever reads it.
    pause: (clockAhead) => Math.min(Math.max(1_000, 2 * HOUR - clockAhead - 5_000), 6 * HOUR),
  },
  withStatus(500, PAGE),
  withStatus(503, PAGE),
  withStatus(503, PAGE, { retryAfter: () => '600', pause: 10 * MINUTE }),
  withStatus(522, PAGE),
  ofBoth('status 206', 'refuse', (exchange) => exchange.send(exchange.text(), { status: 206 })),
  ofBoth('status 203', 'refuse', (exchange) => exchange.send(exchange.text(), { status: 203 })),
  redirecting('to itself', ({ url }) => url.href),
  redirecting('to plain http', ({ url }) => url.href.replace('https:', 'http:')),
  redirecting('to a private address', () => `https://169.254.169.254/${SECRET}`),
  redirecting('to nowhere', () => 'https://'),
  {
    name: 'moved to another host',
    dataSets: BOTH,
    verdict: 'take',
    answer: (exchange) => {
      const { url, dataSet } = exchange
      const host = dataSet === 'latest' ? 'www.exchangerate-api.com' : 'frankfurter.dev'
      if (url.host === host) return exchange.sendHealthy()
      return exchange.send(null, {
        status: 301,
        headers: { location: `https://${host}${url.pathname}` },
      })
    },
  },
]

interface Refusal {
  /** What the header says at an instant, in ms since the Unix epoch. */
  retryAfter?: (instant: number) => string
  /** In ms. */
  pause?: number
}

function withStatus(
  status: number,
  body: string | null,
  { retryAfter, pause }: Refusal = {},
): UpstreamFault {
  const what = body === '' ? ' without a body' : ''
  const when = retryAfter ? `, Retry-After ${retryAfter(0).slice(0, 12)}` : ''
  return {
    name: `status ${status}${what}${when}`,
    dataSets: BOTH,
    verdict: 'refuse',
    ...(pause === undefined ? {} : { pause: () => pause }),
    answer(exchange) {
      const headers = new Headers({ 'content-type': 'text/html', 'x-upstream': SECRET })
      if (retryAfter) headers.set('retry-after', retryAfter(exchange.instant))
      return exchange.send(body, { status, headers })
    },
  }
}

function ofBoth(
  name: string,
  verdict: UpstreamFault['verdict'],
  answer: UpstreamFault['answer'],
): UpstreamFault {
  return { name, dataSets: BOTH, verdict, answer }
}

function redirecting(name: string, target: (exchange: Exchange) => string): UpstreamFault {
  return ofBoth(`redirects ${name}`, 'refuse', (exchange) =>
    exchange.send(null, { status: 302, headers: { location: target(exchange) } }),
  )
}
