import { describe, expect, it } from 'vitest'

import { currencies } from '../src/currencies.ts'
import { createCurrencySearch } from '../src/currency-search.ts'
import { HAS_CLDR } from './fixtures/cldr-regions.ts'
import { rowsOf } from './fixtures/rows.ts'

const search = createCurrencySearch(currencies)

describe('createCurrencySearch', () => {
  it.each(
    rowsOf(`
      jpy JPY     | yen JPY     | swiss CHF   | switzerland CHF | franken CHF | uk GBP      | £ GBP      | € EUR
      $ USD       | germany EUR | china CNY   | rupie INR       | złoty PLN   | zloty PLN   | dollar USD | krona SEK
      brazil BRL  | Swedish SEK | franc CHF   | francs CHF      | france EUR  | rupees INR  | pesos MXN  | sol PEN
      de DKK      | den DKK     | zig ZWG     | ZiG ZWG         | tugrik MNT  | tugriks MNT | tögrög MNT | togrog MNT
      pa'anga TOP | paanga TOP  | british GBP | venezuela VES   | bolivar VES | panama PAB  | haiti HTG  | zimbabwe ZWG
      ¥ JPY       | bhutan BTN  | lesotho LSL | jersey JEP  | ecuador USD`),
  )('finds %s first: %s', (text, code) => {
    expect(search.find(text)[0]).toBe(code)
  })

  it.each([
    [' Swiss Francs ', ['CHF']],
    ['european union', ['EUR']],
    ['namibia', ['NAD', 'ZAR']],
    ['palestinian territories', ['ILS', 'JOD']],
    ['panama', ['PAB', 'USD']],
    ['el salvador', ['USD', 'SVC']],
  ])('finds by %j only %j, a currency that is named after its country first', (text, codes) => {
    expect(search.find(text)).toEqual(codes)
  })

  it('does not find Yemen by yen', () => {
    expect(search.find('yen')).not.toContain('YER')
  })

  it('finds whole words of names before beginnings of names, and those before countries', () => {
    const found = createCurrencySearch([
      { code: 'EUR', name: 'Euro', countries: ['FR'] },
      { code: 'XAA', name: 'Franconian Thaler' },
      { code: 'CHW', name: 'WIR Franc' },
      { code: 'BIF', name: 'Burundian Franc', countries: ['BI'] },
    ]).find('franc')
    expect(found).toEqual(['BIF', 'XAA', 'EUR', 'CHW'])
  })

  it('finds by a plural what the singular finds, units of account last', () => {
    const found = search.find('francs')
    expect(found).toEqual(search.find('franc').filter((code) => code !== 'EUR'))
    expect(found).toContain('XOF')
    expect(found.at(-1)).toBe('CHW')
  })

  it('finds every currency with the text, the major ones first', () => {
    const found = search.find('dollar')
    expect(found.slice(0, 3)).toEqual(['USD', 'CAD', 'AUD'])
    expect(found).toContain('BBD')
    expect(search.find('china').slice(0, 2)).toEqual(['CNY', 'CNH'])
    expect(search.find('')).toHaveLength(currencies.length)
    expect(search.find('zzz')).toEqual([])
  })

  it.each([
    ...rowsOf(`
      yen JPY | $ USD      | eur EUR     | francs CHF   | yens JPY | rubles RUB | us USD | zig ZWG
      tugrik MNT | namibia NAD | guernsey GGP | pesos  | doll     | som        | gold XAU | silver XAG
      platinum XPT | palladium XPD`),
    ['swiss franc', 'CHF'],
    ['swiss francs', 'CHF'],
    ['polish zlotys', 'PLN'],
    [''],
  ])('takes %j as a name of %s', (text = '', ...codes) => {
    expect(search.exact(text)).toBe(codes[0])
  })

  it('finds codes without a name', () => {
    const named = createCurrencySearch([{ code: 'ABC' }, { code: 'USDT', name: null }])
    expect(named.find('ab')).toEqual(['ABC'])
    expect(named.find('usdt')).toEqual(['USDT'])
  })

  it.runIf(HAS_CLDR)('finds each currency of a country by the words of its name in CLDR', () => {
    const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' })
    const missed = currencies.flatMap(({ code, countries }) => {
      const words = countries.length > 0 ? (names.of(code)?.split(/[ -]/) ?? []) : []
      return words
        .filter((word) => !search.find(word).includes(code))
        .map((word) => `${code} ${word}`)
    })
    // The som is also the currency of a neighbour.
    expect(missed).toEqual(['UZS Som'])
  })
})
