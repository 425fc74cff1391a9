import { describe, expect, it } from 'vitest'

import { FEEDS, FEEDS_BY_MODULE, respondAsFeeds } from '../fixtures/feeds.ts'
import { DAY, NOW, examine, run, urlOf } from './run.ts'
import type { Finding, Surroundings } from './run.ts'

const VARIABLES: Readonly<Record<string, string>> = {
  banxico: 'RATESMITH_BANXICO_KEY',
  currencyapi: 'RATESMITH_CURRENCYAPI_KEY',
  'exchange-rate-api-v6': 'RATESMITH_EXCHANGE_RATE_API_KEY',
  fred: 'RATESMITH_FRED_KEY',
  'open-exchange-rates': 'RATESMITH_OPEN_EXCHANGE_RATES_KEY',
  tcmb: 'RATESMITH_TCMB_KEY',
}

const SECRET = 'open-sesame-99'

const KEYS = Object.fromEntries(
  Object.values(VARIABLES).map((name, index) => [name, `${SECRET}-${index}`]),
)

/** Hosts that need several requests for their newest rates: one per currency, file or provider. */
const REQUESTS: Readonly<Record<string, number>> = {
  'api.frankfurter.dev': 2,
  'api.stlouisfed.org': FEEDS['createFredProvider()']?.requests ?? 0,
  'olinda.bcb.gov.br': FEEDS['createBcbProvider()']?.requests ?? 0,
  // Metals are a second request.
  'api.nbp.pl': 2,
  'www.cbr.ru': 2,
  'www.imf.org': 2,
  'www.trade-tariff.service.gov.uk': 2,
}

/** The host that a provider uses if its first one fails. */
const MIRROR = 'latest.currency-api.pages.dev'

const HOSTS = [...new Set(Object.values(FEEDS).map(({ root }) => new URL(root).host))].filter(
  // Another service of the bank, which has no name on the command line, and one that needs a root.
  (host) => host !== 'data-api.ecb.europa.eu' && host !== 'cdn.example',
)

/** Returns a `fetch` that responds like every upstream, except where `replace` returns a response, and what it was called for. */
function everyUpstream(replace: (host: string) => Response | undefined = () => undefined) {
  const calls = new Map<string, number>()
  const running: string[] = []
  const most = { hosts: 0, ofHost: 0 }
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const { host } = new URL(request.url)
    calls.set(host, (calls.get(host) ?? 0) + 1)
    running.push(host)
    most.hosts = Math.max(most.hosts, new Set(running).size)
    most.ofHost = Math.max(most.ofHost, running.filter((each) => each === host).length)
    const body = await request.text()
    // Requests that are made at the same time meet here.
    await new Promise((resolve) => setTimeout(resolve, 1))
    running.splice(running.indexOf(host), 1)
    const response = replace(host) ?? respondAsFeeds(request.url, NOW, body)
    if (!response.headers.has('date')) response.headers.set('date', new Date(NOW).toUTCString())
    return response
  }
  return { fetch, calls, most }
}

/** Returns the results of `ratesmith doctor --all`, by the first part of the subject: the name of the provider. */
async function examineAll(surroundings: Surroundings): Promise<Map<string, Finding>> {
  const findings = await examine(['--all', '--no-cache'], surroundings)
  return new Map(findings.map((each) => [each.subject.split(', ')[0] ?? '', each]))
}

function failuresOf(found: ReadonlyMap<string, Finding>): string[] {
  return [...found].filter(([, { ok }]) => !ok).map(([name]) => name)
}

describe('ratesmith doctor --all', () => {
  it('reads the newest rates of every provider, each once, from at most four hosts at a time', async () => {
    const { fetch, calls, most } = everyUpstream()
    // Those that the environment chooses do not matter.
    const chosen = { LATEST_URL: 'http://127.0.0.1:1/', HISTORY_URL: 'not a URL', LATEST: 'ecb' }
    const env = Object.entries(chosen).map(([name, value]) => [`RATESMITH_${name}`, value])
    const found = await examineAll({ fetch, env: { ...KEYS, ...Object.fromEntries(env) } })
    // A folder needs a root.
    const { folder: _, ...modules } = FEEDS_BY_MODULE
    expect([...found.keys()]).toEqual(expect.arrayContaining(['runtime', ...Object.keys(modules)]))
    expect(found.has('folder')).toBe(false)
    expect(failuresOf(found)).toEqual([])
    found.delete('runtime')
    for (const [name, { found: text }] of found) {
      expect(text, name).toMatch(/\d+ currencies.* 20\d\d-\d\d-\d\d/)
    }
    expect(found.get('ecb')?.found).toMatch(/^30 currencies, published 2026-11-20 /)
    expect(found.get('hmrc')?.found).toMatch(/^reference rates of \d+ currencies up to 2026-11-01$/)
    expect(Object.fromEntries(calls)).toEqual({
      ...Object.fromEntries(HOSTS.map((host) => [host, 1])),
      ...REQUESTS,
    })
    // Banks with a request per currency get four at a time.
    expect(most).toEqual({ hosts: 4, ofHost: 4 })
  })

  it('skips the providers whose key is missing, and fails for invalid keys, tables and folders only', async () => {
    const few = { date: '2026-11-20', usd: { usd: 1, eur: 0.86 } }
    const { fetch, calls } = everyUpstream((host) => {
      const headers = { date: 'Sat, 21 Nov 2026' }
      if (host === 'api.cnb.cz') return new Response('<!doctype html>\n<p>1</p>\n', { headers })
      return ['cdn.jsdelivr.net', MIRROR].includes(host) ? Response.json(few) : undefined
    })
    const own = { RATESMITH_TCMB_KEY: `${SECRET} with spaces`, RATESMITH_FRED_KEY: '' }
    const env = { ...own, RATESMITH_CACHE_DIR: '/dev/null/none' }
    const { code, stdout } = await run(['doctor', '--all'], { fetch, env })
    expect(code).toBe(1)
    const lines = stdout.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'skips  fred',
        '       needs a key: set RATESMITH_FRED_KEY',
        'works  riksbank, Sveriges Riksbank, api.riksbank.se',
      ]),
    )
    expect(lines.filter((line) => line.startsWith('skips'))).toHaveLength(5)
    // One host with another time does not make the clock wrong.
    expect(lines.filter((line) => line.startsWith('fails'))).toEqual([
      expect.stringMatching(/^fails {2}fawazahmed0, /),
      expect.stringMatching(/^fails {2}cnb, /),
      'fails  tcmb',
      'fails  cache, /dev/null/none',
    ])
    expect(stdout).toMatch(/RATESMITH_TCMB_KEY: key must be .*\n {7}-> set RATESMITH_TCMB_KEY to/)
    expect(stdout).toMatch(/ response rejected: .*\n {7}-> .*report this failure$/m)
    const advice =
      / returned an unexpected format: .*\n {7}-> .*use the newest version of ratesmith/
    expect(stdout.slice(stdout.indexOf('fails  cnb'))).toMatch(advice)
    expect(stdout).not.toContain(SECRET)
    expect([...calls.keys()]).not.toContain('api.stlouisfed.org')
    const findings = await examineAll({ fetch: everyUpstream().fetch })
    expect(findings.get('fred')).toEqual({
      subject: 'fred',
      found: 'needs a key: set RATESMITH_FRED_KEY',
      ok: true,
      advice: null,
      skipped: true,
    })
  })

  it('reports late rates, which are no failure', async () => {
    const found = await examineAll({ fetch: everyUpstream().fetch, now: () => NOW + 5 * DAY })
    for (const name of ['cnb', 'ecb', 'banca-d-italia']) {
      expect(found.get(name), name).toMatchObject({
        ok: true,
        found: expect.stringMatching(/2026-11-20.*; the next were due \d+ (?:hours|days?) ago$/),
      })
    }
  })

  it('prints no key that an error or a response contains', async () => {
    const secrets = Object.values(KEYS)
    const failing: typeof globalThis.fetch = async (input) => {
      throw new Error(`no way to ${urlOf(input)} with ${secrets.join()}`)
    }
    const { fetch: echoing } = everyUpstream(() =>
      Response.json({ error: secrets }, { status: 403 }),
    )
    for (const fetch of [failing, echoing]) {
      const { code, stdout, stderr } = await run(['doctor', '--all'], { fetch, env: KEYS })
      expect(code).toBe(1)
      expect(stdout).toContain('fails  fred, ')
      expect(stdout).not.toMatch(/^works {2}(?!runtime)/m)
      expect(stdout + stderr).not.toContain(SECRET)
    }
  })
})

describe('the clock in ratesmith doctor', () => {
  it.each([
    ['days behind', DAY, '1440 minutes behind'],
    ['minutes ahead', -301_000, '5 minutes ahead of'],
    ['5 minutes behind', 300_000, undefined],
  ])('is compared with that of most hosts: %s', async (_, skew, found) => {
    let calls = 0
    // Of three hosts, one has the right time.
    const fetch = async () => {
      const date = new Date(NOW + (calls++ % 3 === 1 ? 0 : skew)).toUTCString()
      return new Response('', { status: 503, headers: { date } })
    }
    const clock = (await examineAll({ fetch })).get('clock')
    expect(clock?.found.split(' ').slice(0, -1).join(' ')).toBe(found)
  })
})
