import { describe, expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY, NOW, run, show } from './run.ts'

const SECRET = 'a-secret-without-blanks-or-commas'
const OTHER = 'another-secret-of-32-bytes-or-more'

const now = (): number => NOW
const rates = createRates({ providers: fakeProviders({ now }), now })
const quotes = createQuotes({ rates, secrets: [SECRET], ttl: '10m', now })

/** Runs `ratesmith convert` without network. */
function convert(line: string, secrets = `${OTHER}, ${SECRET}`, at = NOW) {
  const env = { RATESMITH_QUOTE_SECRETS: secrets }
  return run(['convert', ...line.split(' ')], { env, now: () => at })
}

describe('ratesmith convert --quote', async () => {
  const shown = await quotes.create({ from: 'USD', to: 'EUR', amount: '99.90', context: 'cart-1' })
  const token = `--quote ${shown.quote} --context cart-1`
  const expires = 'ratesmith: the quote expires at 2026-11-20T19:15:59.000Z'

  it('prints the conversion of the quote, and until when it holds', async () => {
    const ran = await convert(token)
    expect(ran).toMatchObject({ code: 0, stdout: `${shown.result} EUR\n` })
    expect(ran.stderr).toContain(`${expires}\n${shown.source.name}, `)
    expect(await convert(`${token} --json`)).toEqual({
      code: 0,
      stdout: `${JSON.stringify(shown)}\n`,
      stderr: `${expires}\n`,
    })
    const { result } = await quotes.convert(shown.quote, {
      context: 'cart-1',
      to: 'EUR',
      amount: '1000',
    })
    expect((await convert(`${token} 1k`)).stdout).toBe(`${result} EUR\n`)
    expect((await convert(`${token} 1,000 --round minor`)).stdout).toBe('853.68 EUR\n')
  })

  it('prints one that has expired, and exits with 1', async () => {
    const expired = expires.replace('expires', 'expired')
    const later = await convert(token, SECRET, NOW + DAY)
    expect(later).toMatchObject({ code: 1, stdout: `${shown.result} EUR\n` })
    expect(later.stderr).toContain(`${expired}\n`)
    const { expiresAt } = shown
    for (const flags of ['', ' --json', ' --quiet']) {
      expect((await convert(token + flags, SECRET, expiresAt - 1)).code).toBe(0)
      expect((await convert(token + flags, SECRET, expiresAt)).code).toBe(1)
    }
  })

  it('shows the rate with a markup', async () => {
    const params = { from: 'USD', amount: 100, markup: '1.5' } as const
    const one = await quotes.create({ ...params, to: 'EUR' })
    const several = await quotes.create({ ...params, to: ['EUR', 'JPY'] })
    const surroundings = { env: { RATESMITH_QUOTE_SECRETS: SECRET } }
    const args = ['convert', '--quote', one.quote]
    const lines = await show(args, 120, surroundings)
    expect(lines.slice(0, 2).join('\n')).toMatch(
      /^100 USD = 86\.65 EUR\n.*1 USD = 0\.8664845504 EUR/,
    )
    const { stdout, stderr } = await convert(`--quote ${several.quote}`)
    const { EUR, JPY } = several.results
    expect(stdout).toBe(
      `EUR\t${EUR.result}\t${EUR.quotedRate}\nJPY\t${JPY.result}\t${JPY.quotedRate}\n`,
    )
    expect(stderr).toContain('ratesmith: its rate has a markup of 1.5 %\n')
  })

  it.each(['QUOTED2', '--quote TOKEN'])('refuses another quote or context: %s', async (line) => {
    const typed = line.replace('QUOTED', token).replace('TOKEN', shown.quote)
    const { code, stderr } = await convert(typed)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^ratesmith: Invalid quote \(.*\n$/)])
  })

  it.each(['', OTHER, 'short', `${SECRET},short`, ' , '])(
    'needs the secrets, got %j',
    async (text) => {
      const { code, stderr } = await convert(token, text)
      expect(code).toBe(2)
      expect(stderr).toMatch(
        text === OTHER ? /^ratesmith: Invalid quote / : /RATESMITH_QUOTE_SECRETS/,
      )
      for (const secret of [SECRET, 'short']) expect(stderr).not.toContain(secret)
    },
  )
})
