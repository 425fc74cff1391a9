export interface NamedCurrency {
  code: string
  /** English name; absent or null for codes without one. */
  name?: string | null | undefined
  /** Symbol, such as `$`. */
  symbol?: string | null | undefined
  /** ISO 3166-1 codes of the countries and territories where it is legal tender. */
  countries?: readonly string[] | undefined
}

export interface CurrencySearch {
  /**
   * Returns the codes that match `text`, the best first: by the whole code, symbol, name, common word or country, that of the
   * code before others; then by whole words in the name of a country's currency; then by beginnings. Among equals, major
   * currencies come first. Returns every code for an empty text.
   */
  find(text: string): string[]
  /** Returns the only code that `text` names as a whole, such as `$`, `yen` or `swiss francs`; undefined if none or several do. */
  exact(text: string): string | undefined
}

/** Countries that also find a currency, which is not their legal tender. */
const ALSO_IN: Readonly<Record<string, string[]>> = { CNH: ['CN'], EUR: ['EU'], SVC: ['SV'] }

/** Words for a currency that are neither in its English name nor the name of a country. */
const WORDS: Readonly<Record<string, string>> = {
  AED: 'emirates,dubai,dirham',
  BMD: 'bermudan',
  BWP: 'botswanan',
  CHF: 'swiss,franc,franken,sfr',
  CNY: 'rmb,yuan',
  CZK: 'czech,koruna,kc,crown',
  DKK: 'kroner,kr',
  EUR: 'europe,eurozone,euro area',
  GBP: 'uk,british,pound,sterling,quid,england,scotland,wales,britain,great britain',
  GYD: 'guyanaese',
  HUF: 'forint',
  ILS: 'shekel,nis',
  INR: 'rupee,rupie',
  JPY: 'yen',
  KRW: 'korea,korean',
  LAK: 'laotian',
  MNT: 'tugrik',
  NOK: 'kroner,kr',
  PLN: 'zloty,zl',
  RUB: 'rouble,ruble',
  SEK: 'krona,kronor,kr',
  TRY: 'turkey,lira',
  USD: 'dollar,buck,us,usa,america,greenback',
  ZAR: 'rand',
  ZWG: 'zig,zimbabwean',
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
      const wanted = foldText(text)
      if (wanted === '') return currencies.map(({ code }) => code)
      return entries()
        .map((entry) => ({ code: entry.code, score: scoreOf(entry, wanted) }))
        .filter(({ score }) => score < Infinity)
        .toSorted((one, other) => one.score - other.score || byRank(one, other))
        .map(({ code }) => code)
    },
    exact(text) {
      const wanted = foldText(text)
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
const KINDS = ['code', 'symbol', 'name', 'word', 'home', 'country'] as const

function entryOf({ code, name, symbol, countries = [] }: NamedCurrency): Entry {
  // Codes begin with a country: "Namibia" means the Namibian dollar, although the rand is legal tender there, too.
  const own = countries.filter((country) => code.startsWith(country))
  const all = [...countries, ...(ALSO_IN[code] ?? [])]
  const terms: Record<(typeof KINDS)[number], string[]> = {
    code: [code],
    symbol: [...(symbol ? [symbol] : []), ...(code === 'USD' ? ['us$'] : [])],
    name: name ? [name] : [],
    word: WORDS[code]?.split(',') ?? [],
    home: own.flatMap(countryNames),
    country: all.filter((country) => !own.includes(country)).flatMap(countryNames),
  }
  return {
    code,
    terms: KINDS.map((kind) => terms[kind].map(foldText)),
    hasCountry: all.length > 0,
  }
}

function rankOf(code: string): number {
  const rank = MAJOR_CURRENCIES.indexOf(code)
  return rank < 0 ? MAJOR_CURRENCIES.length : rank
}

function byRank(one: { code: string }, other: { code: string }): number {
  return rankOf(one.code) - rankOf(other.code)
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

/** Returns `text` in lower case without accents and apostrophes: `zloty` for `złoty`, `paanga` for `paʻanga`. */
export function foldText(text: string): string {
  const plain = text.trim().toLowerCase().normalize('NFD').replaceAll('ł', 'l')
  return plain.replace(/\p{M}|(?<=\p{L})['’ʻ]/gu, '')
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
