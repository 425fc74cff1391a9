import { describe, expect, it } from 'vitest'

import { pairsOf } from '../fixtures/rows.ts'
import { publish, run, show } from './run.ts'

const fetch = publish()

/** Runs a command line whose arguments have no blanks. */
function type(line: string) {
  return run(line.split(' '), { fetch })
}

/** Command lines with what they print, and after `~` the note on words that several currencies share. */
const PRINTED = `
  100 usd to eur => 85.3679 EUR
  100usd/eur => 85.3679 EUR
  USD/EUR => 0.853679 EUR
  usdeur => 0.853679 EUR
  usd eur => 0.853679 EUR
  convert 1,000 usd in eur,gbp => EUR\t853.679\t0.853679 | GBP\t762.071\t0.762071
  100 $ € => 85.3679 EUR ~ $: USD
  $100 in € => 85.3679 EUR ~ $: USD
  50€ into yen => 9471.00374 JPY
  £1k usd => 1312.213691 USD ~ £: GBP
  usd 100 in eur => 85.3679 EUR
  100 dollars to yen => 16170.394 JPY ~ dollars: USD
  100 swiss francs to swedish krona => 1221.477789 SEK
  convert 1000 francs to yen => 216606.2631 JPY ~ francs: CHF
  10 pounds to euros and dollars => EUR\t11.20209272\t1.120209272 | USD\t13.12213691\t1.312213691 ~ pounds: GBP, dollars: USD
  100 usd = eur => 85.3679 EUR
  100 usd to eur gbp => EUR\t85.3679\t0.853679 | GBP\t76.2071\t0.762071
  100 uk to japan => 21219.0124 JPY
  1000 yen francs => 4.616671678 CHF ~ francs: CHF
  new york zurich => 0.746534 CHF
  currencies deutschland => EUR\tEuro\t978\t2\tyes\tyes\t
  convert 1 usd eur --date yesterday => 0.854335754 EUR
  convert 1 usd eur --date -30d => 0.858000858 EUR
  convert 1 usd eur --date=30d => 0.858000858 EUR
  convert 1 usd eur --date 2 weeks ago => 0.8631851532 EUR
  latest eur USD,GBP => USD\t1.171400491\tUS Dollar | GBP\t0.8926903438\tPound Sterling
  latest yen --symbols USD, GBP => USD\t0.006184141215\tUS Dollar | GBP\t0.00471275468\tPound Sterling
  latest --base € --symbols dollar => USD\t1.171400491\tUS Dollar ~ dollar: USD
  latest EUR USD --date -1y => USD\t1.2221\tUS Dollar
  history USD/EUR --start -7d --end yesterday => 2026-11-13\t0.8576329331 | 2026-11-16\t0.8649770781 | 2026-11-17\t0.8694896096 | 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754
  history usdeur --start 3 days ago => 2026-11-17\t0.8694896096 | 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd to eur, gbp --start last tuesday => EUR\t2026-11-17\t0.8694896096 | EUR\t2026-11-18\t0.8608815427 | EUR\t2026-11-19\t0.854335754 | EUR\t2026-11-20\t0.853679358 | GBP\t2026-11-17\t0.781671159 | GBP\t2026-11-18\t0.7735106749 | GBP\t2026-11-19\t0.7613840239 | GBP\t2026-11-20\t0.7620710261
  history dollar yen --start 2d => 2026-11-18\t163.2059229 | 2026-11-19\t162.6826143 | 2026-11-20\t161.703944 ~ dollar: USD
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
  currencies swiss fr => CHF\tSwiss Franc\t756\t2\tyes\tyes\t
  -- 100 usd eur => 85.3679 EUR
  convert -- 100 usd eur yesterday => 85.4335754 EUR
  100 USD EUR Yesterday => 85.4335754 EUR
  100 usd eur -1y => 81.82636445 EUR
  100 usd eur at 2020-02-28 => 98.64851534 EUR
  100 us dollars to swiss francs => 74.6534 CHF
  100 euro usd => 117.1400491 USD
  100 dollars euros pounds => EUR\t85.3679\t0.853679 | GBP\t76.2071\t0.762071 ~ dollars: USD, pounds: GBP
  100 rupees usd => 1.142272065 USD ~ rupees: INR
  100 ¥ eur => 0.5279271488 EUR ~ ¥: JPY
  latest rupees usd => USD\t0.01142272065\tUS Dollar ~ rupees: INR
  history rupees usd 2d => 2026-11-18\t0.01141958317 | 2026-11-19\t0.011455275 | 2026-11-20\t0.01142272062 ~ rupees: INR
  latest yesterday -s EUR => EUR\t0.854335754\tEuro
  latest eur usd gbp yesterday => GBP\t0.8912\tPound Sterling | USD\t1.1705\tUS Dollar
  history eur usd 1w => 2026-11-13\t1.166 | 2026-11-16\t1.1561 | 2026-11-17\t1.1501 | 2026-11-18\t1.1616 | 2026-11-19\t1.1705 | 2026-11-20\t1.1714
  history eur usd -p 1w => 2026-11-13\t1.166 | 2026-11-16\t1.1561 | 2026-11-17\t1.1501 | 2026-11-18\t1.1616 | 2026-11-19\t1.1705 | 2026-11-20\t1.1714
  history usd eur -2d => 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd eur last 2 days => 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd eur --period 2d => 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd eur since 2026-11-18 => 2026-11-18\t0.8608815427 | 2026-11-19\t0.854335754 | 2026-11-20\t0.853679358
  history usd eur from 2026-11-17 to 2026-11-18 => 2026-11-17\t0.8694896096 | 2026-11-18\t0.8608815427
  history usd eur --start 2026-11 --end 2026-11-03 => 2026-11-02\t0.8614006374 | 2026-11-03\t0.863632438
  history usd eur --start 2020 --end 2020-01 --interval month => 2020-01-31\t1.028838339
  history usd eur 2020 --interval year => 2020-12-31\t0.9319664492
  history usd eur 2020-12 --interval year => 2020-12-31\t0.9319664492
  history usd eur 2019 2020 --interval year => 2019-12-31\t1.007211635 | 2020-12-31\t0.9319664492
  history usd eur since 2025 --interval year => 2025-12-31\t0.8365400703 | 2026-11-20\t0.853679358
  history usd eur 5 years --interval year => 2021-12-31\t0.9319664492 | 2022-12-30\t0.9076881184 | 2023-12-29\t0.8765778401 | 2024-12-31\t0.8775008775 | 2025-12-31\t0.8365400703 | 2026-11-20\t0.853679358
  history usd eur 10y --interval year => 2016-12-30\t0.8459521191 | 2017-12-29\t0.8336807003 | 2018-12-31\t0.9107468124 | 2019-12-31\t1.007211635 | 2020-12-31\t0.9319664492 | 2021-12-31\t0.9319664492 | 2022-12-30\t0.9076881184 | 2023-12-29\t0.8765778401 | 2024-12-31\t0.8775008775 | 2025-12-31\t0.8365400703 | 2026-11-20\t0.853679358
  history usd eur -p 10y --interval year => 2016-12-30\t0.8459521191 | 2017-12-29\t0.8336807003 | 2018-12-31\t0.9107468124 | 2019-12-31\t1.007211635 | 2020-12-31\t0.9319664492 | 2021-12-31\t0.9319664492 | 2022-12-30\t0.9076881184 | 2023-12-29\t0.8765778401 | 2024-12-31\t0.8775008775 | 2025-12-31\t0.8365400703 | 2026-11-20\t0.853679358`

describe('a command line in natural words', () => {
  it.each(pairsOf(PRINTED))('prints rates for %j', async (line, printed) => {
    const [stdout = '', note] = printed.split(' ~ ')
    const ran = await type(line)
    expect(ran).toMatchObject({ code: 0, stdout: `${stdout}\n` })
    const notes = ran.stderr.split('\n').filter((each) => each.startsWith('ratesmith: '))
    expect(notes).toEqual(note === undefined ? [] : [`ratesmith: ${note}`])
  })

  it('is read in one argument, too', async () => {
    for (const args of [['1,000 usd to eur'], ['convert', '1 000', 'US dollar', 'euro']]) {
      expect(await run(args, { fetch })).toMatchObject({ code: 0, stdout: '853.679 EUR\n' })
    }
  })

  it('has its note on a terminal, but not with --quiet', async () => {
    const words = ['100', 'rupees', 'usd']
    const note = 'ratesmith: rupees: INR\n'
    expect((await run(words, { fetch, columns: 80 })).stderr).toBe(note)
    expect((await run([...words, '--json'], { fetch })).stderr).toBe(note)
    expect((await run([...words, '--quiet'], { fetch })).stderr).toBe('')
  })
})

/** Command lines with the beginnings of the first lines on a terminal. */
const SHOWN = `
  100 usd eur => 100 USD = 85.37 EUR | exactly 85.3679 EUR, 1 USD = 0.853679 EUR, published 2026-11-20
  1234567.891 usd jpy => 1,234,567.891 USD = 199,634,492 JPY | exactly 199634492.17219055 JPY, 1 USD = 161.70394 JPY, published
  1 usd eur => 1 USD = 0.853679 EUR | published
  1 usd krw => 1 USD = 1,572.153 KRW | published
  5 usd eur => 5 USD = 4.268 EUR | exactly 4.268395 EUR, 1 USD
  0.01 usd eur => 0.01 USD = 0.008537 EUR | exactly 0.00853679 EUR, 1 USD
  7 usd jpy => 7 USD = 1,132 JPY | exactly 1131.92758 JPY, 1 USD
  2000 usd eur --reverse => 2,342.80 USD = 2,000 EUR | exactly 2342.80098257073 USD, 1 USD = 0.853679 EUR, published
  1234.5 usd eur --round minor => 1,234.5 USD = 1,053.87 EUR | exactly 1053.8667255 EUR, 1 USD
  1e300 usd jpy => 1e+300 USD = 1.6170394e+302 JPY | 1 USD = 161.70394 JPY, published
  50000 krw usd 2020-02-28 => 50,000 KRW = 34.98 USD | exactly 34.98098597 USD, 1 KRW = 0.0006996197194 USD, reference rates of 2020-02-28
  100000 usd krw,eur,kwd => 100,000 USD | code  amount          rate          name | KRW   157,215,300     1,572.153     South | EUR        85,367.90      0.853679  Euro | KWD        30,777         0.30777   Kuwaiti
  history usd krw 2d --layout wide => date        KRW | 2026-11-18  1,573.725895`

describe('numbers on a terminal', () => {
  it.each(pairsOf(SHOWN))('are grouped, and exact in the second line: %s', async (line, starts) => {
    const lines = await show(line.split(' '), 120, { fetch })
    const expected = starts.split('\n')
    expect(expected.map((start, index) => lines[index]?.slice(0, start.length))).toEqual(expected)
  })

  it('are grouped in a history, beside and below the chart', async () => {
    const lines = await show('history usd krw 2d'.split(' '), 60, { fetch })
    expect(lines[1]).toMatch(/^1,573\.725895 │/)
    expect(lines).toContain('low      1,566.125587 on 2026-11-19')
  })
})

const HELP = ' (see ratesmith help)'
const CONVERT = `convert needs [amount] <from> <to>, such as ratesmith 100 usd eur${HELP}`
const HUNDREDTHS = `market data write hundredths of a currency so: divide the amount by 100, and send the code of the whole unit${HELP}`
const PART = `is a part of a currency: type the amount in whole units, and the currency${HELP}`
const sharing =
  (message: string) =>
  (line: string): [string, string] => [line, message]
const WRITE = 'a day must be YYYY-MM-DD: write'
const WORD = 'Write it as a word, without a flag: ratesmith'
const CRYPTO = 'is not an ISO 4217 currency: ratesmith has no cryptocurrencies'

const WRONG = `
  100 kr eur => kr names several currencies: SEK, NOK, DKK or ISK${HELP}
  100 usd to krone => krone names several currencies: NOK or DKK${HELP}
  100 pesos to eur => pesos names several currencies: MXN, ARS, CLP, COP or CUP (and 5 more)${HELP}
  usd bitcoin => bitcoin ${CRYPTO}
  convert 1,00,0 usd eur => amount must be a number such as 1000.50, got 1,00,0${HELP}
  400p usd => Invalid from currency: p (must be three letters, such as EUR)
  100 usd parts => Invalid to currency: parts (must be three letters, such as EUR)
  convert usd to eur 100 => ${CONVERT}
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
  history usd => history needs <from> <to>, such as ratesmith history usd eur 1y${HELP}
  latest EUR --base USD => --base is given twice: EUR and USD${HELP}
  1 usd eur friday --date 2020-01-01 => --date is given twice: 2026-11-13 and 2020-01-01${HELP}
  latest USD,EUR => latest takes a base and symbols, as in latest EUR USD,GBP, got USD,EUR${HELP}
  history ILA usd => ILA: ${HUNDREDTHS}
  latest --base zac => zac: ${HUNDREDTHS}
  latest -s usd,KWF => KWF: ${HUNDREDTHS.replace('hundred', 'thousand').replace('100', '1000')}
  $1.799 eur => 1.799 has two meanings: write 1799 or 1.7990${HELP}
  100 ZWR usd => Invalid from currency: ZWR (withdrawn on 2009-02-02 for ZWL, also withdrawn, use ZWG)
  100 dollar-ish eur => Invalid from currency: dollar-ish (must be three letters, such as EUR)
  history btc eur => btc ${CRYPTO}
  100 krone --json => ${CONVERT}
  convert usd to => ${CONVERT}
  convert 100 USD , EUR => ${CONVERT}
  convert 1 usd eur --date yesturday => --date must be YYYY-MM-DD, or a word such as yesterday, got yesturday${HELP}
  convert 1 usd eur --date -3x => amount must not be negative, got -3x${HELP}
  -1m usd eur => amount must not be negative, got -1m${HELP}
  100 usd eur 28.02.2020 => ${WRITE} 2020-02-28, got 28.02.2020${HELP}
  100 usd eur --date 28.02.2020 => ${WRITE} 2020-02-28, got 28.02.2020${HELP}
  100 usd eur 2020/2/8 => ${WRITE} 2020-02-08, got 2020/2/8${HELP}
  history usd eur --start 03.02.2020 => 03.02.2020 has two meanings: write 2020-02-03 or 2020-03-02${HELP}
  100 usd eur 31.02.2020 => a day must be YYYY-MM-DD, or a word such as yesterday, got 31.02.2020${HELP}
  100 usd eur 2020 => a day must be YYYY-MM-DD, or a word such as yesterday, got 2020${HELP}
  100 usd eur 100 => ${CONVERT}
  100 usd eur --date 2020 => --date must be YYYY-MM-DD, or a word such as yesterday, got 2020${HELP}
  history usd eur until 2020 => --start is missing${HELP}
  history usd eur -p 2x => --period must be one of 1W, 1M, 3M, 6M, 1Y, 5Y, got 2x${HELP}
  100 usd eur --rule next => --rule requires --date${HELP}
  convert --from usd --to eur => Unknown option '--from'. ${WORD} 100 usd eur${HELP}
  100 usd --to eur => --to needs --file; without it, the target is a word: ratesmith 100 usd eur${HELP}
  100 usd eur --since 2020 => Unknown option '--since'. ratesmith history has --start${HELP}
  history --from usd --to eur => Unknown option '--from'. ${WORD} history usd eur${HELP}
  history usd eur --from 2020-01-01 => Unknown option '--from'. Did you mean --start?${HELP}
  history usd eur --since yesterday => Unknown option '--since'. Did you mean --start?${HELP}
  history usd eur --to=2020 => Unknown option '--to'. Did you mean --end?${HELP}
  history usd eur --until 2020-01-01 => Unknown option '--until'. Did you mean --end?${HELP}
  100 usd eur --on 2020-01-01 => Unknown option '--on'. Did you mean --date?${HELP}
  latest --from usd --to eur => Unknown option '--from'. Did you mean --base?${HELP}`

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
    const [command = 'convert'] = /^(currencies|history|latest)(?= )/.exec(line) ?? []
    const isAlone = /^(convrt|usdeux|usd|euro|btc|GBp|pence)( |$)/.test(line)
    const stderr = isAlone ? message : message.replace(HELP, ` (see ratesmith help ${command})`)
    expect(await type(line)).toEqual({ code: 2, stdout: '', stderr: `ratesmith: ${stderr}\n` })
  })
})
