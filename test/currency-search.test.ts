import { describe, expect, it } from 'vitest'

import { currencies } from '../src/currencies.ts'
import { createCurrencySearch, isPartOfCurrency } from '../src/currency-search.ts'
import { HAS_CLDR } from './fixtures/cldr-regions.ts'
import { pairsOf, rowsOf } from './fixtures/rows.ts'

const search = createCurrencySearch(currencies)

/** What people type for a currency: nouns, nicknames, symbols, countries, their names for themselves, and cities. */
const WORDS = pairsOf(
  `
  AED => dubai,abu dhabi,emirates,uae,dirham,dirhams,united arab emirates
  ARS => argentina,buenos aires,argentine pesos ; AUD => aussie,australia,sydney,melbourne,a$,australian dollars
  BHD => bahrain ; BRL => brazil,brasil,reais,rio,rio de janeiro,sao paulo,são paulo,r$ ; BTN => bhutan
  CAD => loonie,loonies,canada,toronto,vancouver,ca$
  CHF => swiss,switzerland,schweiz,suisse,svizzera,zurich,zürich,geneva,genève,franken,franc,francs,fran,swissie,SFr
  CLP => chile ; CNY => china,yuan,rmb,renminbi,kuai,beijing,shanghai,中国 ; COP => colombia
  CRC => colones,costa rica ; CZK => czech,czech republic,czechia,česko,prague,praha,koruna,kč
  DKK => de,den,denmark,danmark,copenhagen,københavn ; DOP => punta cana ; EGP => egypt,cairo
  EUR => €,euros,eur,europe,germany,deutschland,france,paris,spain,españa,espana,österreich,osterreich,austria,vienna,italia,rome,athens,amsterdam,holland,nederland,ireland,dublin,eire,suomi,helsinki,portugal,lisboa,hrvatska,ελλάδα,mallorca,berlin,belgique,monaco,european union
  GBP => £,uk,british,quid,sterling,london,england,scotland,pounds,united kingdom,edinburgh ; GTQ => quetzales
  HKD => hongkong,hong kong,hk$ ; HTG => haiti ; HUF => hungary,magyarország,budapest,forints
  IDR => bali,jakarta,indonesia,rupiah,rupiahs ; ILS => israel,shekels,tel aviv
  INR => rupee,rupees,rupie,india,goa,mumbai,₹ ; ISK => iceland,ísland,reykjavik,kronur ; JEP => jersey
  JPY => jpy,yen,yens,¥,japan,日本,nippon,tokyo,kyoto ; KES => kenya,nairobi ; KRW => korea,seoul,₩,대한민국
  KWD => kuwait ; LSL => lesotho,maloti ; MAD => morocco,marrakech ; MMK => burma,myanmar
  MNT => tugrik,tugriks,tögrög,togrog ; MOP => macau ; MXN => pesos,mexico,méxico,cancun,pesos mexicanos
  MYR => kuala lumpur,ringgit,rm ; NOK => norway,norge,oslo ; NZD => kiwi,kiwis,new zealand,auckland,nz$
  PAB => panama ; PEN => sol,soles,peru,cusco ; PHP => manila,philippines,pilipinas
  PLN => złoty,zloty,zlotys,zl,poland,polska,warsaw,krakow,kraków ; PYG => guaranies
  RON => lei,romania,bucharest ; RUB => roubles,rubles,россия,moscow
  SEK => kr,krona,kronor,Swedish,sweden,sverige,stockholm ; SGD => singapore,s$ ; SZL => swaziland,emalangeni
  THB => baht,bahts,thailand,bangkok,phuket ; TOP => pa'anga,paanga ; TRY => turkey,türkiye,turkiye,lira,istanbul
  TWD => ntd,nt$,taiwan,taipei ; TZS => zanzibar ; UAH => kyiv,ukraine,hryvnias
  USD => $,dollar,dollars,bucks,greenback,us,usa,us$,america,new york,hawaii,ecuador,puerto rico
  VES => venezuela,bolivar,bolivares ; VND => vietnam,dong,hanoi ; XAU => gold
  XOF => ivory coast,côte d'ivoire,senegal ; XPF => tahiti ; ZAR => rand,rands,south africa,cape town
  ZWG => zig,ZiG,zimbabwe`.replaceAll(' ; ', '\n'),
)

const PARTS =
  `pence,penny,pennies,Pence,GBX,gbx,GBp,ZAc,ZAC,ILA,KWF,cent,cents,centavos,centimes,eurocents,öre,øre,kopecks,grosz,
  sen,paisa,agorot,kuruş,rappen,satang,fillér`.split(/,\s*/)

describe('createCurrencySearch', () => {
  it.each(WORDS)('finds %s first by %s', (code, words) => {
    const first = words.split(',').map((word) => [word, search.find(word)[0]])
    expect(first).toEqual(words.split(',').map((word) => [word, code]))
  })

  it.each(PARTS)('finds nothing by %j, a part of a currency', (part) => {
    expect(search.find(part)).toEqual([])
    expect(search.exact(part)).toBeUndefined()
    expect(isPartOfCurrency(part)).toBe(true)
  })

  it('finds nothing by the amount 400p, and the pula only by P', () => {
    expect(search.find('400p')).toEqual([])
    expect([search.exact('p'), search.exact('P')]).toEqual([undefined, 'BWP'])
    expect(search.find('p')).toContain('PLN')
    expect(search.find('p')[0]).not.toBe('BWP')
  })

  it('finds no Zimbabwe Gold by gold where gold is not a currency, and no Yemen by yen', () => {
    const withoutMetals = currencies.filter(({ countries }) => countries.length > 0)
    expect(createCurrencySearch(withoutMetals).find('gold')).toEqual([])
    expect(search.find('yen')).not.toContain('YER')
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
    // Countries that begin with franc have no plural.
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
    const named = createCurrencySearch([{ code: 'ABC' }, { code: 'USDT', name: null }])
    expect([named.find('ab'), named.find('usdt')]).toEqual([['ABC'], ['USDT']])
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

  it.runIf(HAS_CLDR)('finds each currency of a country by the words of its name in CLDR', () => {
    const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' })
    const missed = currencies.flatMap(({ code, countries }) => {
      const words = countries.length > 0 ? (names.of(code)?.split(/[ -]/) ?? []) : []
      return words
        .filter((word) => !search.find(word).includes(code))
        .map((word) => `${code} ${word}`)
    })
    // The som is also the currency of a neighbour, and gold a metal.
    expect(missed).toEqual(['UZS Som', 'ZWG Gold'])
  })
})
