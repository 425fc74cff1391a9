import { describe, expect, it } from 'vitest'

import { FEEDS, FEEDS_BY_MODULE, respondAsFeeds } from '../fixtures/feeds.ts'
import { DAY, NOW, examine, run, show, urlOf } from './run.ts'
import type { Finding, Surroundings } from './run.ts'

/** The variables of the keys, by provider. */
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

/** Hosts that a provider uses if the first one fails. */
const MIRRORS: Readonly<Record<string, string>> = {
  'cdn.jsdelivr.net': 'latest.currency-api.pages.dev',
}

/** The number of currencies and the newest publication or period of some providers. */
const NEWEST: readonly (readonly [name: string, text: RegExp])[] = [
  ['ecb', /^30 currencies, published 2026-11-20 /],
  ['cnb', /^30 currencies, published 2026-11-20 13:30 UTC, /],
  ['fred', /^\d+ currencies, published 2026-11-16 21:15 UTC, /],
  ['frankfurter', /^reference rates of 30 currencies up to 2026-11-20$/],
  ['hmrc', /^reference rates of \d+ currencies up to 2026-11-01$/],
  ['us-treasury', /^reference rates of \d+ currencies up to 2026-09-30$/],
]

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
    return replace(host) ?? (await responseOf(request.url, body))
  }
  return { fetch, calls, most }
}

/** Bodies of upstreams, made once: null for an unknown path. */
const bodies = new Map<string, Promise<ArrayBuffer | null>>()

/** Returns the response of the upstream at `url` to a request with `sent`. */
async function responseOf(url: string, sent: string): Promise<Response> {
  const key = `${url} ${sent}`
  const body = bodies.get(key) ?? bodyOf(url, sent)
  bodies.set(key, body)
  const bytes = await body
  return bytes === null ? new Response('', { status: 404 }) : new Response(bytes)
}

async function bodyOf(url: string, sent: string): Promise<ArrayBuffer | null> {
  const response = respondAsFeeds(url, NOW, sent)
  return response.ok ? response.arrayBuffer() : null
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
    const found = await examineAll({ fetch, env: KEYS })
    // A folder needs a root.
    const { folder: _, ...modules } = FEEDS_BY_MODULE
    expect([...found.keys()]).toEqual(expect.arrayContaining(['runtime', ...Object.keys(modules)]))
    expect(found.has('folder')).toBe(false)
    expect(failuresOf(found)).toEqual([])
    found.delete('runtime')
    for (const [name, { found: text }] of found) {
      expect(text, name).toMatch(/\d+ currencies.* 20\d\d-\d\d-\d\d/)
    }
    for (const [name, text] of NEWEST) expect(found.get(name)?.found, name).toMatch(text)
    expect(Object.fromEntries(calls)).toEqual({
      ...Object.fromEntries(HOSTS.map((host) => [host, 1])),
      ...REQUESTS,
    })
    // Banks with a request per currency get four at a time.
    expect(most).toEqual({ hosts: 4, ofHost: 4 })
  })

  it.each(HOSTS)(
    'reports that %s responds with a page of HTML, and all others',
    async (changed) => {
      const page = '<!doctype html><html><body><p>1 EUR = 1.1 USD</p></body></html>\n'
      const { fetch } = everyUpstream((host) =>
        host === changed || host === MIRRORS[changed] ? new Response(page) : undefined,
      )
      const args = ['doctor', '--all', '--no-cache', '--json']
      const { code, stdout } = await run(args, { fetch, env: KEYS })
      const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
      const failures = findings.filter((each) => !each.ok)
      // Of two providers of one host, the other has the days from the bank.
      expect(failures.length).toBe(1)
      for (const { subject, found, advice } of failures) {
        expect(subject.split(', ').at(-1)).toBe(MIRRORS[changed] ?? changed)
        expect(found).toMatch(/ returned an unexpected format: .| invalid JSON$/)
        expect(advice).toContain('newest version')
      }
      // The runtime, and two providers of one host.
      expect(findings).toHaveLength(1 + HOSTS.length + 1)
      expect({ code, ok }).toEqual({ code: 1, ok: false })
    },
  )

  it('reports a table with few currencies', async () => {
    const few = { date: '2026-11-20', usd: { usd: 1, eur: 0.86 } }
    const { fetch } = everyUpstream((host) =>
      host === 'cdn.jsdelivr.net' ? Response.json(few) : undefined,
    )
    const found = await examineAll({ fetch })
    expect(failuresOf(found)).toEqual(['fawazahmed0'])
    expect(found.get('fawazahmed0')?.advice).toContain('report this failure')
  })

  it('reports late rates', async () => {
    const { fetch } = everyUpstream()
    const found = await examineAll({ fetch, now: () => NOW + 5 * DAY })
    for (const name of ['cnb', 'ecb', 'banca-d-italia']) {
      expect(found.get(name), name).toMatchObject({
        ok: true,
        found: expect.stringMatching(/2026-11-20.*; the next were due \d+ (?:hours|days?) ago$/),
      })
    }
  })
})

describe('ratesmith doctor --all without keys', () => {
  it('skips the providers that need one, and names its variable', async () => {
    const { fetch, calls } = everyUpstream()
    const found = await examineAll({ fetch, env: { RATESMITH_FRED_KEY: '' } })
    const skipped = [...found].filter(([, each]) => 'skipped' in each)
    const about = { ok: true, advice: null, skipped: true }
    const expected = Object.entries(VARIABLES).map(([name, variable]) => [
      name,
      { subject: name, found: `needs a key: set ${variable}`, ...about },
    ])
    expect(Object.fromEntries(skipped)).toEqual(Object.fromEntries(expected))
    expect([...calls.keys()]).not.toContain('api.stlouisfed.org')
  })

  it('exits with 0, and marks them', async () => {
    const { fetch } = everyUpstream()
    const { code } = await run(['doctor', '--all', '--no-cache'], { fetch })
    expect(code).toBe(0)
    const lines = await show(['doctor', '--all', '--no-cache'], 80, { fetch })
    expect(lines.join('\n')).toContain('skips  tcmb\n       needs a key: set RATESMITH_TCMB_KEY\n')
    expect(lines.join('\n')).toMatch(/^works {2}riksbank, Sveriges Riksbank, api\.riksbank\.se$/m)
  })
})

describe('ratesmith doctor --all with keys', () => {
  it('reports an invalid key and does not print it', async () => {
    const { fetch } = everyUpstream()
    const env = { RATESMITH_TCMB_KEY: `${SECRET} with spaces` }
    const found = await examineAll({ fetch, env })
    expect(failuresOf(found)).toEqual(['tcmb'])
    expect(found.get('tcmb')).toMatchObject({
      found: expect.stringMatching(/^RATESMITH_TCMB_KEY: key must be /),
      advice: expect.stringContaining('RATESMITH_TCMB_KEY'),
    })
    expect(JSON.stringify([...found])).not.toContain(SECRET)
  })

  it('prints no key that an error or a response contains', async () => {
    const secrets = Object.values(KEYS)
    const failing: typeof globalThis.fetch = async (input) => {
      throw new Error(`no way to ${urlOf(input)} with ${secrets.join()}`)
    }
    const echoing = everyUpstream(() => Response.json({ error: secrets }, { status: 403 })).fetch
    for (const fetch of [failing, echoing]) {
      const { code, stdout, stderr } = await run(['doctor', '--all'], { fetch, env: KEYS })
      expect(code).toBe(1)
      expect(stdout).toContain('fails  fred, ')
      expect(stdout + stderr).not.toContain(SECRET)
    }
  })
})

describe('the choices of ratesmith doctor --all', () => {
  it('ignores the providers and roots of the environment', async () => {
    const { fetch, calls } = everyUpstream()
    const roots = { LATEST_URL: 'http://127.0.0.1:1/', HISTORY_URL: 'not a URL' }
    const chosen = Object.entries({ ...roots, LATEST: 'ecb' })
    const env = Object.fromEntries(chosen.map(([name, value]) => [`RATESMITH_${name}`, value]))
    const found = await examineAll({ fetch, env })
    expect(failuresOf(found)).toEqual([])
    expect([...calls.keys()]).not.toContain('127.0.0.1:1')
  })

  it('checks the cache folder as without it', async () => {
    const { fetch } = everyUpstream()
    const env = { RATESMITH_CACHE_DIR: '/dev/null/none' }
    const findings = await examine(['--all'], { fetch, env })
    expect(findings.filter(({ ok }) => !ok)).toMatchObject([{ subject: 'cache, /dev/null/none' }])
  })
})

describe('the clock in ratesmith doctor --all', () => {
  const dated = (now: number) => ({ headers: { date: new Date(now).toUTCString() } })
  const respond = (now: number): Response => new Response('', { status: 503, ...dated(now) })

  it.each([
    ['ignores one host with another time', ['api.cnb.cz'], []],
    ['fails if all hosts have another time', HOSTS, ['clock']],
  ])('%s', async (_, wrong, failures) => {
    const { fetch } = everyUpstream((host) => respond(wrong.includes(host) ? NOW + DAY : NOW))
    const found = await examineAll({ fetch })
    expect(failuresOf(found).filter((name) => name === 'clock')).toEqual(failures)
  })
})
