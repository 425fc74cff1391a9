export interface NamedCurrency {
  code: string
  /** English name; absent or null for codes without one. */
  name?: string | null | undefined
}

export interface CurrencySearch {
  /**
   * Returns the codes that match `text`, the best first: by the whole code, symbol, name, common word or country; then by whole
   * words in the name of a country's currency; then by beginnings. Among equals, major currencies come first. Returns every
   * code for an empty text.
   */
  find(text: string): string[]
  /** Returns the only code that `text` names as a whole, such as `$`, `yen` or `swiss francs`; undefined if none or several do. */
  exact(text: string): string | undefined
}

/** Countries and territories (ISO 3166-1) that use each currency, by the tables of ISO 4217. */
const REGIONS = `AED:AE,AFN:AF,ALL:AL,AMD:AM,AOA:AO,ARS:AR,AUD:AU CC CX HM KI NF NR TV,AWG:AW,AZN:AZ,BAM:BA,BBD:BB,BDT:BD,BHD:BH,BIF:BI,BMD:BM,
BND:BN,BOB:BO,BRL:BR,BSD:BS,BTN:BT,BWP:BW,BYN:BY,BZD:BZ,CAD:CA,CDF:CD,CHF:CH LI,CLP:CL,CNH:CN,CNY:CN,COP:CO,CRC:CR,CUP:CU,CVE:CV,
CZK:CZ,DJF:DJ,DKK:DK FO GL,DOP:DO,DZD:DZ,EGP:EG,ERN:ER,ETB:ET,EUR:EU AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU
LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA XK YT,FJD:FJ,FKP:FK,FOK:FO,GBP:GB,GEL:GE,GGP:GG,GHS:GH,GIP:GI,GMD:GM,GNF:GN,GTQ:GT,
GYD:GY,HKD:HK,HNL:HN,HTG:HT,HUF:HU,IDR:ID,ILS:IL PS,IMP:IM,INR:IN BT,IQD:IQ,IRR:IR,ISK:IS,JEP:JE,JMD:JM,JOD:JO,JPY:JP,KES:KE,KGS:KG,
KHR:KH,KID:KI,KMF:KM,KPW:KP,KRW:KR,KWD:KW,KYD:KY,KZT:KZ,LAK:LA,LBP:LB,LKR:LK,LRD:LR,LSL:LS,LYD:LY,MAD:MA EH,MDL:MD,MGA:MG,MKD:MK,
MMK:MM,MNT:MN,MOP:MO,MRU:MR,MUR:MU,MVR:MV,MWK:MW,MXN:MX,MYR:MY,MZN:MZ,NAD:NA,NGN:NG,NIO:NI,NOK:NO BV SJ,NPR:NP,NZD:NZ CK NU PN TK,
OMR:OM,PAB:PA,PEN:PE,PGK:PG,PHP:PH,PKR:PK,PLN:PL,PYG:PY,QAR:QA,RON:RO,RSD:RS,RUB:RU,RWF:RW,SAR:SA,SBD:SB,SCR:SC,SDG:SD,SEK:SE,SGD:SG,
SHP:SH,SLE:SL,SOS:SO,SRD:SR,SSP:SS,STN:ST,SVC:SV,SYP:SY,SZL:SZ,THB:TH,TJS:TJ,TMT:TM,TND:TN,TOP:TO,TRY:TR,TTD:TT,TVD:TV,TWD:TW,TZS:TZ,
UAH:UA,UGX:UG,USD:US AS BQ EC FM GU IO MH MP PR PW SV TC TL UM VG VI,UYU:UY,UZS:UZ,VED:VE,VES:VE,VND:VN,VUV:VU,WST:WS,XAF:CM CF CG
GA GQ TD,XCD:AG AI DM GD KN LC MS VC,XCG:CW SX,XOF:SN BF BJ CI GW ML NE TG,XPF:PF NC WF,YER:YE,ZAR:ZA,ZMW:ZM,ZWG:ZW`

/** Words for a currency that are neither in its English name nor the name of a country. */
const WORDS: Readonly<Record<string, string>> = {
  AED: 'emirates,dubai,dirham',
  CHF: 'swiss,franc,franken,sfr',
  CNY: 'rmb,yuan',
  CZK: 'czech,koruna,kc,crown',
  DKK: 'kroner,kr',
  EUR: 'europe,eurozone,euro area',
  GBP: 'uk,pound,sterling,quid,england,scotland,wales,britain,great britain',
  HUF: 'forint',
  ILS: 'shekel,nis',
  INR: 'rupee,rupie',
  JPY: 'yen',
  KRW: 'korea,korean',
  NOK: 'kroner,kr',
  PLN: 'zloty,zl',
  RUB: 'rouble,ruble',
  SEK: 'krona,kronor,kr',
  TRY: 'turkey,lira',
  USD: 'dollar,buck,us,usa,america,greenback',
  ZAR: 'rand',
}

export const MAJOR_CURRENCIES: readonly string[] =
  'USD,EUR,GBP,JPY,CHF,CAD,AUD,CNY,INR,SEK,NOK,DKK,PLN,NZD,SGD,HKD,MXN,BRL,ZAR,KRW,TRY'.split(',')

/** Signs that name one currency in common usage, though others share them. */
const SIGNS = '$£€¥₩'

interface Entry {
  code: string
  terms: string[][]
  hasCountry: boolean
}

export function createCurrencySearch(currencies: readonly NamedCurrency[]): CurrencySearch {
  let index: Entry[] | undefined
  // Names of countries take some ms, and most pages and commands search nothing.
  const entries = (): Entry[] => (index ??= currencies.map(entryOf))
  return {
    find(text) {
      const wanted = plain(text)
      if (wanted === '') return currencies.map(({ code }) => code)
      return entries()
        .map((entry) => ({ code: entry.code, score: scoreOf(entry, wanted) }))
        .filter(({ score }) => score < Infinity)
        .toSorted((one, other) => one.score - other.score || byRank(one, other))
        .map(({ code }) => code)
    },
    exact(text) {
      const wanted = plain(text)
      if (wanted === '') return undefined
      for (const text of new Set([wanted, singularOf(wanted)])) {
        for (const kind of KINDS.keys()) {
          const found = entries().filter(({ terms }) => terms[kind]?.includes(text))
          // Of the dollars, `$` is that of the United States.
          const [first] = found.toSorted(byRank)
          if (first) return found.length === 1 || SIGNS.includes(text) ? first.code : undefined
        }
      }
      return undefined
    },
  }
}

/** What a term of a currency is, the most certain first. */
const KINDS = ['code', 'symbol', 'name', 'word', 'country'] as const

function entryOf({ code, name }: NamedCurrency): Entry {
  const countries = regionsOf(code)
  const terms: Record<(typeof KINDS)[number], string[]> = {
    code: [code],
    symbol: [symbolOf(code), ...(code === 'USD' ? ['us$'] : [])],
    name: name ? [name] : [],
    word: WORDS[code]?.split(',') ?? [],
    country: countries.flatMap((region) => countryNames(region)),
  }
  return {
    code,
    terms: KINDS.map((kind) => terms[kind].map(plain)),
    hasCountry: countries.length > 0,
  }
}

function rankOf(code: string): number {
  const rank = MAJOR_CURRENCIES.indexOf(code)
  return rank < 0 ? MAJOR_CURRENCIES.length : rank
}

function byRank(one: { code: string }, other: { code: string }): number {
  return rankOf(one.code) - rankOf(other.code)
}

let regions: ReadonlyMap<string, string[]> | undefined

function regionsOf(code: string): string[] {
  regions ??= new Map(
    REGIONS.split(/,\s*/)
      .map((entry) => entry.split(':'))
      .map(([each = '', list = '']) => [each, list.split(/\s+/)]),
  )
  return regions.get(code) ?? []
}

/** Returns the place of a match: whole terms, words of names, beginnings of terms, beginnings of words; Infinity without one. */
function scoreOf({ terms, hasCountry }: Entry, wanted: string): number {
  const wholes = [wanted, singularOf(wanted)]
  const scores = terms.flatMap((texts, kind) =>
    texts.map((text) => {
      if (wholes.includes(text)) return kind
      const isInside = wholes.some((whole) => ` ${text} `.includes(` ${whole} `))
      // Units of account, such as the WIR Franc, are not what people mean by a franc.
      if (isInside && KINDS[kind] === 'name' && hasCountry) return 10
      if (text.startsWith(wanted)) return 20 + kind
      return isInside || text.includes(` ${wanted}`) ? 30 + kind : Infinity
    }),
  )
  return Math.min(...scores)
}

/** `us` and `aus` are not plurals. */
function singularOf(text: string): string {
  return text.replace(/(?<=\p{L}{3})s$/u, '')
}

/** Returns `text` in lower case without accents: `zloty` for `złoty`. */
function plain(text: string): string {
  return text.trim().toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ł', 'l')
}

export function symbolOf(code: string): string {
  const options = { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' } as const
  try {
    const parts = new Intl.NumberFormat(code === 'USD' ? 'en-US' : 'en', options).formatToParts(0)
    return parts.find(({ type }) => type === 'currency')?.value ?? code
  } catch {
    return code
  }
}

function countryNames(region: string): string[] {
  const locales = ['en', ...(globalThis.navigator?.languages ?? [])]
  return locales.flatMap((locale) => {
    try {
      return new Intl.DisplayNames(locale, { type: 'region' }).of(region) ?? []
    } catch {
      return []
    }
  })
}
