import { describe, expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { createQuotes } from '../../src/quotes/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, run, show } from './run.ts'

const SECRET = 'a-secret-without-blanks-or-commas'
const OTHER = 'another-secret-of-32-bytes-or-more'

const now = (): number => NOW
const rates = createRates({ providers: fakeProviders({ now }), now })
const quotes = createQuotes({ rates, secrets: [SECRET], ttl: '10m', now })

function convert(line: string, at = NOW) {
  const env = { RATESMITH_QUOTE_SECRETS: `${OTHER}, ${SECRET}` }
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
    const json = { code: 0, stdout: `${JSON.stringify(shown)}\n`, stderr: `${expires}\n` }
    expect(await convert(`${token} --json`)).toEqual(json)
    const thousand = { context: 'cart-1', to: 'EUR', amount: '1000' }
    const { result } = await quotes.convert(shown.quote, thousand)
    expect((await convert(`${token} 1k`)).stdout).toBe(`${result} EUR\n`)
    expect((await convert(`${token} 1,000 --round minor`)).stdout).toBe('853.68 EUR\n')
  })

  it('prints one that has expired, and exits with 1', async () => {
    const expired = expires.replace('expires', 'expired')
    for (const flags of ['', ' --json', ' --quiet']) {
      const [before, after] = [shown.expiresAt - 1, shown.expiresAt].map((at) =>
        convert(token + flags, at),
      )
      expect([(await before)?.code, (await after)?.code]).toEqual([0, 1])
    }
    const later = await convert(token, shown.expiresAt)
    expect(later.stdout).toBe(`${shown.result} EUR\n`)
    expect(later.stderr).toContain(`${expired}\n`)
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
})
