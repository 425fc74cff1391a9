import { describe, expect, it } from 'vitest'

import { currencies } from '../src/currencies.ts'
import { MAJOR_CURRENCIES, createCurrencySearch, symbolOf } from '../src/currency-search.ts'

const search = createCurrencySearch(currencies)

describe('createCurrencySearch', () => {
  it.each([
    ['jpy', 'JPY'],
    ['yen', 'JPY'],
    ['swiss', 'CHF'],
    ['switzerland', 'CHF'],
    ['franken', 'CHF'],
    ['uk', 'GBP'],
    ['£', 'GBP'],
    ['€', 'EUR'],
    ['$', 'USD'],
    ['germany', 'EUR'],
    ['china', 'CNY'],
    ['rupie', 'INR'],
    ['złoty', 'PLN'],
    ['zloty', 'PLN'],
    ['dollar', 'USD'],
    ['krona', 'SEK'],
    ['brazil', 'BRL'],
    [' Swedish ', 'SEK'],
    ['franc', 'CHF'],
    ['francs', 'CHF'],
    ['swiss francs', 'CHF'],
    ['france', 'EUR'],
    ['rupees', 'INR'],
    ['pesos', 'MXN'],
    ['sol', 'PEN'],
    ['de', 'DKK'],
    ['den', 'DKK'],
  ])('finds %s first: %s', (text, code) => {
    expect(search.find(text)[0]).toBe(code)
  })

  it('does not find Yemen by yen', () => {
    expect(search.find('yen')).not.toContain('YER')
  })

  it('finds whole words of names before beginnings of names, and those before countries', () => {
    const found = createCurrencySearch([
      { code: 'EUR', name: 'Euro' },
      { code: 'XAA', name: 'Franconian Thaler' },
      { code: 'CHW', name: 'WIR Franc' },
      { code: 'BIF', name: 'Burundian Franc' },
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
    expect(search.find('')).toHaveLength(currencies.length)
    expect(search.find('zzz')).toEqual([])
  })

  it.each([
    ['yen', 'JPY'],
    ['$', 'USD'],
    ['swiss franc', 'CHF'],
    ['eur', 'EUR'],
    ['francs', 'CHF'],
    ['swiss francs', 'CHF'],
    ['polish zlotys', 'PLN'],
    ['yens', 'JPY'],
    ['rubles', 'RUB'],
    ['us', 'USD'],
    ['pesos', undefined],
    ['doll', undefined],
    ['', undefined],
  ])('takes %j as a name of %s', (text, code) => {
    expect(search.exact(text)).toBe(code)
  })

  it('finds codes without a name', () => {
    const named = createCurrencySearch([{ code: 'ABC' }, { code: 'USDT', name: null }])
    expect(named.find('ab')).toEqual(['ABC'])
    expect(named.find('usdt')).toEqual(['USDT'])
  })
})

describe('symbols', () => {
  it.each([
    ['USD', '$'],
    ['EUR', '€'],
    ['JPY', '¥'],
    ['CHF', 'CHF'],
    ['toolong', 'toolong'],
  ])('of %s are %s', (code, symbol) => {
    expect(symbolOf(code)).toBe(symbol)
  })

  it('name one of the major currencies', () => {
    expect(MAJOR_CURRENCIES.find((code) => symbolOf(code) === '$')).toBe('USD')
    expect(MAJOR_CURRENCIES.find((code) => symbolOf(code) === '¥')).toBe('JPY')
  })
})
