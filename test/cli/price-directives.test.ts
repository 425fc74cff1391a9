import { describe, expect, it } from 'vitest'

import { publish, run } from './run.ts'

/** Published: units of CHF for 1 EUR; 1 USD is 1 EUR. */
const FRANCS = { '2026-11-13': 0.75, '2026-11-18': 0.8, '2026-11-19': 0.9341 }

async function print(args: string): Promise<string[]> {
  const ran = await run(args.split(' '), { fetch: publish({ francs: FRANCS }) })
  expect(ran.code, ran.stderr).toBe(0)
  return ran.stdout.trimEnd().split('\n')
}

describe('--format', () => {
  it.each([
    ['history chf eur', 'beancount', '2026-11-18 price CHF 1.25 EUR'],
    ['history chf eur', 'ledger', 'P 2026-11-18 CHF 1.25 EUR'],
    // Priced by the published digits: the inverse of 1.070549192 is 0.9340999998.
    ['history eur chf', 'beancount', '2026-11-19 price EUR 0.9341 CHF'],
    ['latest -b CHF -s EUR -d 2026-11-19', 'ledger', 'P 2026-11-19 EUR 0.9341 CHF'],
    ['latest -b EUR -s CHF -d 2026-11-19', 'beancount', '2026-11-19 price CHF 1.070549192 EUR'],
    // The day is that of the rate.
    ['latest -b EUR -s USD -d 2026-11-15', 'ledger', 'P 2026-11-13 USD 1 EUR'],
  ])('of %s as %s prints %s', async (args, format, line) => {
    expect(await print(`${args} --format ${format} --no-cache`)).toContain(line)
  })

  it('has a line for each currency but the base, at the rate of a conversion', async () => {
    const lines = await print('latest EUR --format beancount --no-cache')
    const converted = await print('convert 1 JPY EUR --json --no-cache')
    const { rate } = JSON.parse(converted.join(''))
    expect(lines).toContain(`2026-11-20 price JPY ${rate} EUR`)
    expect(lines.length).toBeGreaterThan(100)
    for (const line of lines) {
      expect(line).toMatch(/^2026-11-20 price (?!EUR)[A-Z]{3} \d+(\.\d+)? EUR$/)
    }
  })

  it('has no exponents, which these programs do not read', async () => {
    const [line] = await print('latest KWD IRR --format ledger --demo')
    expect(line).toMatch(/^P 2026-11-20 IRR 0\.0000002\d+ KWD$/)
  })

  it('has a line for each day of several currencies', async () => {
    const lines = await print('history eur chf,usd -p 1W --format ledger --no-cache')
    expect(lines).toHaveLength(6)
    expect(lines.at(-1)).toBe('P 2026-11-19 EUR 1 USD')
  })
})
