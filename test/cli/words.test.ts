import { describe, expect, it } from 'vitest'

import { pairsOf } from '../fixtures/rows.ts'
import { publish, run, show } from './run.ts'

const fetch = publish()

/** Runs a command line whose arguments have no blanks. */
function type(line: string) {
  return run(line.split(' '), { fetch })
}

/** Returns the note on the conversion of a currency at its ratio, such as `1.95583 DEM`. */
function fixed(ratio: string): string {
  const code = ratio.split(' ')[1]
  return `${code} was withdrawn on 1999-01-01: converted at the fixed ratio, 1 EUR = ${ratio}`
}

/** Command lines with what they print. */
const PRINTED = `
  100 usd to eur => 85.3679 EUR
  100usd/eur => 85.3679 EUR
  USD/EUR => 0.853679 EUR
  usdeur => 0.853679 EUR
  usd eur => 0.853679 EUR
  convert 1,000 usd in eur,gbp => EUR\t853.679\t0.853679 | GBP\t762.071\t0.762071
  100 $ € => 85.3679 EUR
  $100 in € => 85.3679 EUR
  50€ into yen => 9471.00374 JPY
  £1k usd => 1312.213691 USD
  usd 100 in eur => 85.3679 EUR
  100 dollars to yen => 16170.394 JPY
  100 swiss francs to swedish krona => 1221.477789 SEK
  convert 1000 francs to yen => 216606.2631 JPY
  10 pounds to euros and dollars => EUR\t11.20209272\t1.120209272 | USD\t13.12213691\t1.312213691
  100 usd = eur => 85.3679 EUR
  100 usd to eur gbp => EUR\t85.3679\t0.853679 | GBP\t76.2071\t0.762071
  100 uk to japan => 21219.0124 JPY
  1000 yen francs => 4.616671678 CHF
  new york zurich => 0.746534 CHF
  currencies deutschland => EUR\tEuro\t978\t2\tyes\tyes\t
  convert 1 usd eur --date yesterday => 0.854335754 EUR
  convert 1 usd eur --date -30d => 0.858000858 EUR
  convert 1 usd eur --date=30d => 0.858000858 EUR
  convert 1 usd eur --date 2 weeks ago => 0.8631851532 EUR
  latest eur USD,GBP => USD\t1.171400491\tUS Dollar | GBP\t0.8926903438\tPound Sterling
  latest yen --symbols USD, GBP => USD\t0.006184141215\tUS Dollar | GBP\t0.00471275468\tPound Sterling
  latest --base € --symbols dollar => USD\t1.171400491\tUS Dollar
  latest EUR USD --date -1y => USD\t1.2221\tUS Dollar
  history USD/EUR --start -7d --end yesterday => 2026-11-13\t0.8576329331 | 2026-11-16\t0.8649770781 | 2026-11-17\t0.8694896096 | 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754
  history usdeur --start 3 days ago => 2026-11-17\t0.8694896096 | 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd to eur, gbp --start last tuesday => EUR\t2026-11-17\t0.8694896096 | EUR\t2026-11-18\t0.8608815427 | EUR\t2026-11-19\t0.854335754 | EUR\t2026-11-20\t0.853679358 | GBP\t2026-11-17\t0.781671159 | GBP\t2026-11-18\t0.7735106749 | GBP\t2026-11-19\t0.7613840239 | GBP\t2026-11-20\t0.7620710261
  history dollar yen --start 2d => 2026-11-18\t163.2059229 | 2026-11-19\t162.6826143 | 2026-11-20\t161.703944
  100 usd -> eur, gbp => EUR\t85.3679\t0.853679 | GBP\t76.2071\t0.762071
  convert 100 usd eur , gbp => EUR\t85.3679\t0.853679 | GBP\t76.2071\t0.762071
  convert 1e2 usd jpy,EUR => JPY\t16170.394\t161.70394 | EUR\t85.3679\t0.853679
  convert 100 usd EUR, => EUR\t85.3679\t0.853679
  convert 100 usd EUR --reverse => 117.140049128537 USD
  convert 100 usd EUR, --reverse => EUR\t117.140049128537\t0.853679
  latest --base eur --symbols JPY,eur => EUR\t1\tEuro | JPY\t189.4200748\tJapanese Yen
  history USD EUR --start 2026-09-01 --interval month => 2026-09-30\t0.8851907586 | 2026-10-30\t0.8574123296 | 2026-11-20\t0.853679358
  100 usd eur yesterday => 85.4335754 EUR
  usd eur on last friday => 0.8576329331 EUR
  100 usd eur 2020-02-28 --reverse => 101.36999999984 USD
  100 usd eur gbp 2 weeks ago => EUR\t86.31851532\t0.8631851532 | GBP\t77.36469573\t0.7736469573
  100 SFr eur => 114.3523269 EUR
  latest eur usd gbp => USD\t1.171400491\tUS Dollar | GBP\t0.8926903438\tPound Sterling
  latest eur usd yesterday => USD\t1.1705\tUS Dollar
  history usd eur 2d => 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd eur 2026-11-17 2026-11-18 => 2026-11-17\t0.8694896096 | 2026-11-18\t0.8608815427
  1,234 usd eur => 1053.439886 EUR
  0,0001 usd eur => 0.0000853679 EUR
  4,50€ usd => 5.2713022095 USD
  ₹1,00,000 eur => 975.1336738 EUR
  10.000 kwd usd => 32.49179582 USD
  currencies chf => CHF\tSwiss Franc\t756\t2\tyes\tyes\t
  currencies swiss fr => CHF\tSwiss Franc\t756\t2\tyes\tyes\t`

describe('a command line in natural words', () => {
  it.each(pairsOf(PRINTED))('prints rates for %j', async (line, stdout) => {
    const ran = await type(line)
    expect(ran).toMatchObject({ code: 0, stdout: `${stdout}\n` })
    expect(ran.stderr).not.toContain('ratesmith:')
  })

  it('reads a whole sentence in one argument', async () => {
    for (const args of [['1,000 usd to eur'], ['convert', '1 000', 'US dollar', 'euro']]) {
      expect(await run(args, { fetch })).toMatchObject({ code: 0, stdout: '853.679 EUR\n' })
    }
  })

  it.each([
    ['100 DEM EUR', '51.1291881196218 EUR', [fixed('1.95583 DEM')]],
    ['1 DEM EUR --date 2001-12-31', '0.511291881196218 EUR', [fixed('1.95583 DEM')]],
    ['1 DEM EUR --date 2020-02-29', '0.511291881196218 EUR', [fixed('1.95583 DEM')]],
    ['100 DEM USD', '59.8927560677564 USD', [fixed('1.95583 DEM')]],
    ['100 DEM EUR --round minor', '51.13 EUR', [fixed('1.95583 DEM')]],
    ['1000000000 ITL EUR --round minor', '516456.90 EUR', [fixed('1936.27 ITL')]],
    ['39427 DEM EUR --round minor', '20158.70 EUR', [fixed('1.95583 DEM')]],
    [
      '0.12 CUP CUC --round minor',
      '0.01 CUC',
      ['CUC was withdrawn on 2021-01-01: converted at the fixed ratio, 1 CUC = 24 CUP'],
    ],
    [
      '100000000000 VEF VES',
      '1 VES',
      ['VEF was withdrawn on 2018-08-20: converted at the fixed ratio, 1 VES = 100000000000 VEF'],
    ],
    ['5 EUR ITL --reverse --round minor', '0.00 EUR', [fixed('1936.27 ITL')]],
    [
      '100 EUR DEM,FRF',
      'DEM\t195.583\t1.95583\nFRF\t655.957\t6.55957',
      [fixed('1.95583 DEM'), fixed('6.55957 FRF')],
    ],
    [
      '100 german marks to italian lira',
      '98999.9130803802 ITL',
      [fixed('1.95583 DEM'), fixed('1936.27 ITL')],
    ],
  ])('converts withdrawn currencies by their fixed ratio: %s', async (line, stdout, notes) => {
    const ran = await type(line)
    expect(ran).toMatchObject({ code: 0, stdout: `${stdout}\n` })
    const noted = ran.stderr.split('\n').filter((each) => each.startsWith('ratesmith: '))
    expect(noted).toEqual(notes.map((note) => `ratesmith: ${note}`))
  })

  it('keeps all digits of an amount in a currency that lost zeros', async () => {
    const ran = await type('12345678901234.56 PLZ PLN')
    expect(ran.stdout).toBe('1234567890.123456 PLN\n')
  })

  it('prints the conversion of a withdrawn currency as JSON', async () => {
    const { stdout } = await type('100 DEM EUR,DEM --json --reverse')
    expect(JSON.parse(stdout)).toMatchObject({
      from: 'DEM',
      amount: 100,
      reverse: true,
      results: { EUR: { rate: 0.5112918812, result: 195.583 }, DEM: { rate: 1, result: 100 } },
    })
  })

  it('shows the rate once for one unit', async () => {
    const lines = await show(['1', 'usd', 'eur'], 120, { fetch })
    expect(lines.filter((line) => line.includes('0.853679'))).toEqual(['1 USD = 0.853679 EUR'])
  })
})

describe('a day in words', () => {
  it.each([
    ['2026-11-20T00:00:00Z', 'today', '2026-11-20'],
    ['2026-11-20T23:59:59Z', 'Yesterday', '2026-11-19'],
    ['2026-11-21T00:00:00Z', 'last friday', '2026-11-20'],
    ['2026-11-20T12:00:00Z', 'friday', '2026-11-13'],
    ['2026-11-20T12:00:00Z', 'Thu', '2026-11-19'],
    ['2026-11-20T12:00:00Z', 'sat', '2026-11-14'],
    ['2026-11-20T12:00:00Z', '-30d', '2026-10-21'],
    ['2026-11-20T12:00:00Z', '2w', '2026-11-06'],
    ['2026-11-20T12:00:00Z', '1 month ago', '2026-10-20'],
    ['2026-03-31T12:00:00Z', '1m', '2026-02-28'],
    ['2024-02-29T12:00:00Z', '-1y', '2023-02-28'],
    ['2026-11-20T12:00:00Z', '2024-02-29', '2024-02-29'],
  ])('is that of UTC: at %s, %j is %s', async (now, word, day) => {
    const at = Date.parse(now)
    const surroundings = { fetch: publish({ now: () => at }), now: () => at }
    const words = ['USD', 'EUR', '--json', '--rule', 'on-or-before', '--date']
    const { stdout } = await run(['convert', ...words, ...word.split(' ')], surroundings)
    expect(JSON.parse(stdout)).toMatchObject({ asked: day })
  })
})

const HELP = ' (see ratesmith help)'
const CONVERT = `convert needs [amount] <from> <to>, for example: ratesmith convert 100 USD EUR${HELP}`
const HUNDREDTHS = `market data write hundredths of a currency so: divide the amount by 100, and send the code of the whole unit${HELP}`
const PART = `is a part of a currency: type the amount in whole units, and the currency${HELP}`
const sharing =
  (message: string) =>
  (line: string): [string, string] => [line, message]
const DAY = 'must be YYYY-MM-DD, or a word such as yesterday, got'
const CRYPTO = 'is not an ISO 4217 currency: ratesmith has no cryptocurrencies'

const WRONG = `
  100 kr eur => kr names several currencies: SEK, NOK, DKK or ISK${HELP}
  100 usd to krone => krone names several currencies: NOK or DKK${HELP}
  100 pesos to eur => pesos names several currencies: MXN, ARS, CLP, COP or CUP (and 5 more)${HELP}
  usd bitcoin => bitcoin ${CRYPTO}
  convert 1,00,0 usd eur => amount must be a number such as 1000.50, got 1,00,0${HELP}
  100 usd => ${CONVERT}
  usd => usd is not a command; try ratesmith latest USD, or ratesmith 100 USD EUR${HELP}
  euro => euro is not a command; try ratesmith latest EUR, or ratesmith 100 EUR USD${HELP}
  btc => btc ${CRYPTO}${HELP}
  100 => ${CONVERT}
  -5 usd eur => amount must not be negative, got -5${HELP}
  100 gpb eur => Invalid from currency: gpb (see ratesmith currencies). Did you mean GBP?
  100 usd XAU => Invalid to currency: XAU (see ratesmith currencies)
  100 usd eur gpb => Invalid to currency: gpb (see ratesmith currencies). Did you mean GBP?
  convrt 100 usd eur => unknown command convrt. Did you mean convert?${HELP}
  usdeux => unknown command usdeux${HELP}
  history aed eur => Unsupported from currency: aed (history covers AUD, BRL, CAD, CHF, CNY, CZK, DKK, EUR, GBP, HKD, HUF, IDR, ILS, INR, ISK, JPY, KRW, MXN, MYR, NOK, NZD, PHP, PLN, RON, SEK, SGD, THB, TRY, USD, ZAR)
  history usd => history needs <from> <to>, for example: ratesmith history USD EUR --period 1Y${HELP}
  latest EUR --base USD => --base is given twice: EUR and USD${HELP}
  1 usd eur friday --date 2020-01-01 => --date is given twice: 2026-11-13 and 2020-01-01${HELP}
  latest USD,EUR => latest takes a base and symbols, as in latest EUR USD,GBP, got USD,EUR${HELP}
  convert 1 usd eur --date yesturday => --date ${DAY} yesturday
  convert 1 usd eur --date 28.02.2020 => --date ${DAY} 28.02.2020
  convert 1 usd eur 28.02.2020 => a day ${DAY} 28.02.2020${HELP}
  history usd eur 2020 => a day ${DAY} 2020${HELP}
  history usd eur --start 2020-01 => --start ${DAY} 2020-01
  history ILA usd => ILA: ${HUNDREDTHS}
  latest --base zac => zac: ${HUNDREDTHS}
  latest -s usd,KWF => KWF: ${HUNDREDTHS.replace('hundred', 'thousand').replace('100', '1000')}
  400p usd => Invalid from currency: p (must be three letters, such as EUR)
  100 usd parts => Invalid to currency: parts (must be three letters, such as EUR)
  $1.799 eur => 1.799 has two meanings: write 1799 or 1.7990${HELP}
  100 ZWR usd => Invalid from currency: ZWR (withdrawn on 2009-02-02 for ZWL, also withdrawn, use ZWG)
  100 dollar-ish eur => Invalid from currency: dollar-ish (must be three letters, such as EUR)
  history btc eur => btc ${CRYPTO}
  100 krone --json => ${CONVERT}
  convert usd to => ${CONVERT}
  convert 100 USD , EUR => ${CONVERT}
  convert 1 usd eur --date -3x => Option '--date' argument is ambiguous${HELP}`

describe('a wrong command line', () => {
  it.each([
    ...pairsOf(WRONG),
    ...['convert 400 GBp GBP', '400GBp/usd', 'GBpUSD', 'GBp'].map(sharing(`GBp: ${HUNDREDTHS}`)),
    ...['convert 400 GBX GBP', 'currencies GBX'].map(sharing(`GBX: ${HUNDREDTHS}`)),
    ...['5 pence usd', 'currencies pence', 'pence'].map(sharing(`pence ${PART}`)),
    ...['10.000 vnd usd', '10.000 jpy usd', '10.000 itl eur', '10.000 kwd jpy --reverse'].map(
      sharing(`10.000 has two meanings: write 10000 or 10${HELP}`),
    ),
  ])('exits with 2 and one line on stderr: %j', async (line, message) => {
    const [page = ''] = /^(convert|currencies|history|latest)(?= )/.exec(line) ?? []
    const stderr = message.replace(HELP, page === '' ? HELP : ` (see ratesmith help ${page})`)
    expect(await type(line)).toEqual({ code: 2, stdout: '', stderr: `ratesmith: ${stderr}\n` })
  })
})

describe('ratesmith currencies', () => {
  it.each([
    ['francs', ['CHF', 'BIF', 'CDF', 'DJF']],
    ['£', ['GBP', 'FKP', 'GIP']],
    ['franc', ['CHF', 'BIF', 'CDF', 'DJF']],
    ['978', ['EUR']],
  ])('finds as the search of currencies does: %s', async (word, codes) => {
    const { code, stdout } = await run(['currencies', word, '--demo'])
    const lines = stdout.split('\n').map((line) => line.slice(0, 3))
    expect(lines).toEqual(expect.arrayContaining(codes))
    expect(lines[0]).toBe(codes[0])
    expect(code).toBe(0)
  })

  it('shows when and for what a currency was withdrawn, and suggests a code', async () => {
    const kuna = await type('currencies HRK')
    expect(kuna.stdout).toMatch(/^HRK\t.*withdrawn 2023-01-01, use EUR, 1 EUR = 7\.5345 HRK\n$/)
    const stderr = 'ratesmith: no currency matches gpb. Did you mean GBP?\n'
    expect(await type('currencies gpb')).toEqual({ code: 1, stdout: '', stderr })
  })

  it.each(['Deutsche', 'BTC'])('suggests no other currency for %s', async (word) => {
    expect(await run(['currencies', word, '--demo'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `ratesmith: no currency matches ${word}\n`,
    })
  })
})
