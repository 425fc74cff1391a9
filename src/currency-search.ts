import { minorUnitHint } from './rates/currency-code.ts'

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
   * Returns the codes that match `text`, the best first: by the whole code, symbol, name, common word, country, that of the code
   * before others, or city; then by whole words in the name of a country's currency; then by beginnings. Among equals, major
   * currencies come first. Returns every code for an empty text, and none for a part of a currency, such as `pence` and `GBp`.
   */
  find(text: string): string[]
  /** Returns the only code that `text` names as a whole, such as `$`, `yen` or `swiss francs`; undefined if none or several do. */
  exact(text: string): string | undefined
  /** Returns all codes that `text` names as a whole, or that share the noun `text` in their names, such as `krone`. */
  sharing(text: string): string[]
}

/** Countries that also find a currency, which is not their legal tender. */
const ALSO_IN: Readonly<Record<string, string[]>> = { CNH: ['CN'], EUR: ['EU'], SVC: ['SV'] }

/** Words for a currency, most of them not in its English name. */
const WORDS = wordsByCode(`
  AED dirham,emirates,uae | AUD a$,au$,aussie | BMD bermudan | BRL reais | BWP botswanan |
  CAD ca$,loonie | CHF franc,franken,sfr,swiss,swissie | CNY kuai,renminbi,rmb,yuan |
  CZK crown,czech,kc,koruna | DKK kr,kroner | EUR euro area,europe,eurozone |
  GBP britain,british,england,great britain,northern ireland,pound,quid,scotland,sterling,uk,wales |
  GYD guyanaese | HKD hk$ | HUF forint | ILS nis,shekel,sheqel | INR rupee,rupie | ISK kronur |
  JPY yen | KRW korea,korean | LAK laotian | LSL maloti | MNT tugrik |
  MXN peso mexicano,pesos mexicanos | NOK kr,kroner | NZD kiwi,nz$ | PLN zl,zloty |
  RUB rouble,ruble | SEK kr,krona,kronor | SGD s$ | SZL emalangeni | TRY lira,turkey |
  TWD nt$,ntd | USD america,buck,dollar,greenback,us,us$,usa | ZAR rand | ZWG zig,zimbabwean`)

/** Cities, and names of countries that `Intl` does not have. */
const PLACES = wordsByCode(`
  AED abu dhabi,dubai | ARS buenos aires | AUD brisbane,melbourne,perth,sydney |
  BRL rio,rio de janeiro,sao paulo | CAD montreal,toronto,vancouver |
  CHF basel,bern,geneva,geneve,genf,suisse,svizzera,zurich | CLP santiago |
  CNY beijing,shanghai,shenzhen | COP bogota,cartagena,medellin | CRC san jose |
  CZK czech republic,prag,prague,praha | DKK copenhagen,kobenhavn | DOP punta cana |
  EGP cairo,hurghada |
  EUR amsterdam,athens,barcelona,belgique,berlin,brussels,canary islands,cologne,crete,dublin,eire,
  florence,frankfurt,hamburg,hellas,helsinki,holland,ibiza,lisboa,lisbon,madrid,mallorca,milan,
  milano,munchen,munich,naples,paris,porto,rome,sicily,sofia,tallinn,tenerife,venice,vienna,vilnius,
  wien,zagreb | GBP edinburgh,london,manchester | GEL tbilisi | HKD hongkong | HUF budapest |
  IDR bali,jakarta,lombok | ILS jerusalem,tel aviv | INR bangalore,bharat,delhi,goa,mumbai |
  ISK reykjavik | JPY kyoto,nippon,osaka,tokyo | KES nairobi | KHR angkor,phnom penh,siem reap |
  KRW busan,seoul | MAD casablanca,marrakech,marrakesh | MMK burma | MOP macau |
  MXN cancun,mexico city | MYR kuala lumpur | NOK bergen,oslo | NPR kathmandu | NZD auckland |
  PEN cusco,lima | PHP manila | PLN cracow,krakow,warsaw,warszawa | QAR doha | RON bucharest |
  RSD belgrade | RUB moscow | SAR mecca,riyadh | SEK gothenburg,stockholm | SZL swaziland |
  THB bangkok,phuket | TRY antalya,istanbul | TWD taipei | TZS zanzibar | UAH kiev,kyiv |
  USD california,chicago,florida,hawaii,las vegas,los angeles,miami,new york,nyc |
  VND hanoi,saigon | XOF ivory coast | XPF bora bora,tahiti | ZAR cape town,johannesburg`)

/** Reads `CHF swiss,franc | GBP quid`, also with line breaks after commas. */
function wordsByCode(text: string): ReadonlyMap<string, string[]> {
  const rows = text.replaceAll(/(?<=,)\s+/g, '').split('|')
  return new Map(rows.map((row) => [row.trim().slice(0, 3), row.trim().slice(4).split(',')]))
}

/** Parts of currencies, which must find no whole one. */
const PARTS = new Set(
  `agora agorot ban bani cent centavo centesimo centime eurocent fen fils filler grosz groszy halala haler jiao kobo kopeck
  kopek kurus lipa millime ore paisa paise para pennies penny pence pesewa pfennig piaster piastre rappen santim satang sen
  stotinka stotinki`.split(/\s+/),
)

export const MAJOR_CURRENCIES: readonly string[] =
  'USD,EUR,GBP,JPY,CHF,CAD,AUD,CNY,INR,SEK,NOK,DKK,PLN,NZD,SGD,HKD,MXN,BRL,ZAR,KRW,TRY'.split(',')

/** Signs that name one currency in common usage, though others share them. */
const SIGNS = '$£€¥₩'

interface Entry {
  code: string
  terms: string[][]
  /** The last word of the name. */
  noun: string
  hasCountry: boolean
}

export function createCurrencySearch(currencies: readonly NamedCurrency[]): CurrencySearch {
  let index: Entry[] | undefined
  // Names of countries take some ms, and most pages and commands search nothing.
  const entries = (): Entry[] => (index ??= currencies.map(entryOf))
  return {
    find(text) {
      if (text.trim() === '') return currencies.map(({ code }) => code)
      if (isPartOfCurrency(text)) return []
      const wholes = wholesOf(text)
      return entries()
        .map((entry) => ({ code: entry.code, score: scoreOf(entry, foldText(text), wholes) }))
        .filter(({ score }) => score < Infinity)
        .toSorted((one, other) => one.score - other.score || byRank(one, other))
        .map(({ code }) => code)
    },
    exact(text) {
      if (text.trim() === '' || isPartOfCurrency(text)) return undefined
      for (const whole of wholesOf(text)) {
        for (const kind of KINDS.keys()) {
          const found = entries().filter(({ terms }) => terms[kind]?.includes(whole))
          // Of the dollars, `$` is that of the United States.
          const [first] = found.toSorted(byRank)
          if (first) return found.length === 1 || SIGNS.includes(whole) ? first.code : undefined
        }
      }
      return undefined
    },
    sharing(text) {
      const wholes = wholesOf(text)
      return entries()
        .filter(({ terms, noun }) => [...terms.flat(), noun].some((term) => wholes.includes(term)))
        .toSorted(byRank)
        .map(({ code }) => code)
    },
  }
}

/** The last list and its index, which takes some 15 ms: a process has one list. */
let indexed: { codes: string; index: CurrencySearch } | undefined

/** Returns the currencies that `search` finds, then those with it in their code, name or number; all for an empty text. */
export function findCurrencies<Currency extends NamedCurrency & { numeric: string | null }>(
  all: readonly Currency[],
  search: string,
): Currency[] {
  const text = foldText(search)
  const byCode = new Map(all.map((currency) => [currency.code, currency]))
  const codes = [...byCode.keys()].join()
  if (indexed?.codes !== codes) indexed = { codes, index: createCurrencySearch(all) }
  const named = indexed.index.find(search)
  const others = all.filter(({ code, name, numeric }) => {
    return [code, name ?? ''].some((each) => foldText(each).includes(text)) || numeric === search
  })
  const best = named.flatMap((code) => byCode.get(code) ?? [])
  return text === '' ? [...all] : [...new Set([...best, ...others])]
}

/** What a term of a currency is, the most certain first. */
const KINDS = ['code', 'symbol', 'name', 'word', 'home', 'country', 'place'] as const

function entryOf({ code, name, symbol, countries = [] }: NamedCurrency): Entry {
  // Codes begin with a country: "Namibia" means the Namibian dollar, although the rand is legal tender there, too.
  const own = countries.filter((country) => code.startsWith(country))
  const all = [...countries, ...(ALSO_IN[code] ?? [])]
  const terms: Record<(typeof KINDS)[number], string[]> = {
    code: [code],
    symbol: symbol ? [symbol] : [],
    name: name ? [name] : [],
    word: WORDS.get(code) ?? [],
    home: own.flatMap(namesOf),
    country: all.filter((country) => !own.includes(country)).flatMap(namesOf),
    place: [...all.flatMap(nativeNames), ...(PLACES.get(code) ?? [])],
  }
  return {
    code,
    // `P` is a pula, but `p` pence, or the beginning of a word.
    terms: KINDS.map((kind) =>
      terms[kind].map((text) => (ONE_LETTER.test(text) ? text : foldText(text))),
    ),
    noun:
      foldText(name ?? '')
        .split(' ')
        .at(-1) ?? '',
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
function scoreOf({ terms, hasCountry }: Entry, wanted: string, wholes: readonly string[]): number {
  const scores = terms.flatMap((texts, kind) =>
    texts.map((text) => {
      if (wholes.includes(text)) return kind
      // Zimbabwe Gold is not gold.
      if (wanted === 'gold') return Infinity
      const isInside = wholes.some((whole) => ` ${text} `.includes(` ${whole} `))
      // Units of account, such as the WIR Franc, are not what people mean by a franc.
      if (isInside && KINDS[kind] === 'name' && hasCountry) return 10
      if (text.startsWith(wanted)) return 20 + kind
      return isInside || text.includes(` ${wanted}`) ? 30 + kind : Infinity
    }),
  )
  return Math.min(...scores)
}

const ONE_LETTER = /^\p{L}$/u

/** Returns what may be a term as a whole: the text, and its singulars. `us` and `aus` are not plurals. */
function wholesOf(text: string): string[] {
  const folded = foldText(text)
  const whole = ONE_LETTER.test(text.trim()) ? text.trim() : folded
  return [whole, ...[/(?<=\p{L}{3})s$/u, /(?<=\p{L}{3})es$/u].map((end) => folded.replace(end, ''))]
}

/** Returns whether `word` is a part of a currency, such as `pence`, `cents`, `GBX` and `GBp`. */
export function isPartOfCurrency(word: string): boolean {
  if (wholesOf(word).some((whole) => PARTS.has(whole))) return true
  if (minorUnitHint(word.trim()) === undefined) return false
  // `SFr` has the form of `GBp`.
  return ![...WORDS.values()].flat().includes(foldText(word))
}

/** Returns what to type instead of a part of a currency, such as `GBp`, `GBX` and `pence`; undefined for other words. */
export function adviceOnPart(word: string): string | undefined {
  if (!isPartOfCurrency(word)) return undefined
  const hint = minorUnitHint(word)
  if (hint !== undefined) return `${word}: ${hint}`
  return `${word} is a part of a currency: type the amount in whole units, and the currency`
}

/** Returns `text` in lower case without accents and apostrophes: `zloty` for `złoty`, `paanga` for `paʻanga`. */
function foldText(text: string): string {
  const plain = text.trim().toLowerCase().normalize('NFD').replaceAll('ł', 'l').replaceAll('ø', 'o')
  return plain.replace(/\p{M}|(?<=\p{L})['’ʻ]/gu, '')
}

function namesOf(region: string): string[] {
  return namesIn(['en', ...(globalThis.navigator?.languages ?? [])], region)
}

/** Returns the name of a country in the language of most people there, such as `España`. */
function nativeNames(region: string): string[] {
  return namesIn([`und-${region}`], region)
}

function namesIn(locales: readonly string[], region: string): string[] {
  return locales.flatMap((locale) => {
    try {
      const language = new Intl.Locale(locale).maximize()
      return new Intl.DisplayNames(language, { type: 'region' }).of(region) ?? []
    } catch {
      return []
    }
  })
}
