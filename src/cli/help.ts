import { loadProviders } from './providers.ts'
import type { ProvidedData } from './upstreams.ts'

/** The output of `ratesmith --help`. */
export const OVERVIEW = `Usage: ratesmith <command> [options]

Commands:
  convert [amount] <from> <to>    convert an amount into one or several currencies
  latest                          show latest rates against a base, or the rates of a day
  history <from> <to>             chart the daily reference rates of one or several pairs
  currencies [search]             list currencies
  doctor                          check every provider and store
  serve                           serve exchange rates over HTTP
  keys <action>                   create, list and revoke API keys of serve, and show their usage

Options:
  --help       show this help, or that of a command: ratesmith convert --help
  --version    show the version

Exit codes: 0 success, 1 no data or a failed check, 2 invalid usage.
`

const shared = (
  output: string,
): string => `  --json               print ${output} as one line of JSON
${PROVIDER_FLAGS}  --demo               use synthetic rates, without network
  --no-cache           do not read or write the cache folder
  --help               show this help
`

const RULES = `  --rule <rule>        day with the rates for --date: on-or-before (default), exact, next,
                       previous-business-day or period-end
  --max-age <days>     fail if the rates are more days older than --date
`

const PROVIDER_FLAGS = `  --latest <names>     providers of latest rates, in order, comma-separated
  --history <names>    providers of reference rates, in order, comma-separated
`

const ALL = await loadProviders()

const KEY_VARIABLES = ALL.flatMap(({ keyVariable }) => keyVariable ?? []).join(', ')

const UPSTREAMS = `  RATESMITH_LATEST, RATESMITH_HISTORY
                         same as --latest and --history
  RATESMITH_LATEST_URL, RATESMITH_HISTORY_URL
                         root URLs that replace the providers' own, comma-separated
  ${KEY_VARIABLES}
                         keys of the providers that require one
`

const PROVIDERS = `
Providers, tried in order until one succeeds. For history, banks widen the coverage: a pair has
the rates of the first one with both currencies.
  latest   ${listOf('latest')}
  history  ${listOf('history')}
`

/** Returns the names of all providers of a data set, the default first, in lines of 80 characters. */
function listOf(data: ProvidedData): string {
  const [first, ...others] = ALL.filter((provider) => provider[data]).map(({ name }) => name)
  return [`${first} (default)`, ...others]
    .join(', ')
    .replaceAll(/(?=.{70})(.{1,68},) /g, `$1\n${' '.repeat('  history  '.length)}`)
}

const PROXIES = `  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                         proxies for upstream calls, and hosts that bypass them
`

const REDIS = `  RATESMITH_REDIS_URL    same as --redis, but keeps the password out of the process list
`

const ENVIRONMENT = `Environment:
${UPSTREAMS}  RATESMITH_CACHE_DIR    folder for fetched rates (default: the user's cache folder)
  NO_COLOR               turn colours off
${PROXIES}${PROVIDERS}`

/** The output of `ratesmith <command> --help`, by command. */
export const HELP = {
  convert: `Usage: ratesmith convert [amount] <from> <to>[,<to>...] [options]
       ratesmith convert --csv <file> [options]

Converts an amount (default 1) at the latest rate: ratesmith convert 100 USD EUR
Several codes give a table: ratesmith convert 100 USD EUR,GBP,JPY
A file in CSV, or - for stdin, is printed with the columns rate, result, rateDate, source and error.
Its first line names the columns: from, to and, as needed, amount, date, reverse, rule, maxAge.

Options:
  --date <day>         use the reference rates of this day, or the last before it (YYYY-MM-DD)
${RULES}  --csv <file>         convert each row of this file; --date, --rule, --max-age and --reverse
                       apply to rows without their own
  --reverse            show how much <from> gives the amount of <to>
  --round <minor|cash> round results to the minor unit, or to the smallest amount in cash
${shared('the API response')}
${ENVIRONMENT}`,

  latest: `Usage: ratesmith latest [options]

Shows latest rates: units of each currency per unit of the base.

Options:
  --base <code>        base currency (default USD)
  --symbols <codes>    show only these currencies, comma-separated (default all)
  --date <day>         show the reference rates of this day, or the last before it (YYYY-MM-DD)
${RULES}${shared('the API response')}
${ENVIRONMENT}`,

  history: `Usage: ratesmith history <from> <to>[,<to>...] [options]

Shows daily reference rates: a chart and a summary on a terminal, one line per day elsewhere.
Several codes give a table: ratesmith history EUR USD,GBP --period 1Y

Options:
  --period <period>    1W, 1M, 3M, 6M, 1Y or 5Y back from the newest day (default 1M)
  --start <day>        first day, instead of a period (1999-01-04 or later)
  --end <day>          last day (default: the newest)
  --interval <length>  day, week, month, quarter or year: a point for each (default day)
  --value <value>      last, average, open, high or low of each interval (default last)
  --fill previous      also show days without a publication, with the last rate before them
  --layout <layout>    long, or wide: a line per day with a column per code (default long)
${shared('the API response')}
${ENVIRONMENT}`,

  currencies: `Usage: ratesmith currencies [search] [options]

Lists the currencies whose code, name or number matches, and the rates available for each.

Options:
${shared('the API response')}
${ENVIRONMENT}`,

  doctor: `Usage: ratesmith doctor [options]

Checks every provider and store, and shows how to fix each failure.

Options:
  --redis <url>        also check this Redis (default: RATESMITH_REDIS_URL)
${shared('the results')}
${ENVIRONMENT}`,

  serve: `Usage: ratesmith serve [options]

Serves exchange rates over HTTP.

Options:
  --port <number>      port to listen on; 0 picks a free one (default 8787)
  --host <address>     address to listen on (default 127.0.0.1)
  --https              serve HTTPS; implied by the next two
  --https-key <file>   private key (PEM)
  --https-cert <file>  certificate (PEM), followed by the intermediate ones
  --base-path <path>   prefix of every path (default /api)
  --cors <scope>       responses that every origin may read: v1, all or off (default v1); or the
                       origins that may read v1, comma-separated
  --compat <names>     also serve the paths of these services, comma-separated: frankfurter,
                       frankfurter-v2, exchangerate-host, open-exchange-rates, exchange-rate-api
  --no-compress        turn brotli and gzip off
  --no-explorer        turn the explorer page at the base path off
${PROVIDER_FLAGS}  --demo               use synthetic rates, without network
  --data <folder>      store fetched rates in this folder for the next start
  --redis <url>        store fetched rates in this Redis and share them with other servers
  --log <format>       json or text (default: text on a terminal, json elsewhere)
  --plan <limits>      name and limits of a plan, repeatable: pro=600/min,100000/month
  --keys <file>        require keys from this file: see ratesmith keys
  --anonymous <plan>   plan of requests without a key, by address, or refuse (default refuse)
  --trusted-proxy <range>
                       address or range of a proxy in front, repeatable, or the number of proxies
  --forwarded-header <name>
                       the header that these proxies write: x-forwarded-for or forwarded
  --key-parameter <name>
                       query parameter that may have the key, repeatable (default none)
  --counters <place>   count in this Redis (redis://...), SQLite file (.db, .sqlite) or memory
                       (default: the Redis of --redis, else memory)
  --when-counters-fail <rule>
                       local, allow or refuse (default local)
  --metrics            serve metrics at /metrics, for everyone
  --metrics-port <number>
                       serve metrics on this port instead, with the probes
  --access-log <format>
                       print a line for every response: json or combined
  --access-log-sample <share>
                       share of the responses to log, above 0 and at most 1 (default 1)
  --access-log-addresses
                       add the addresses of clients to these lines
  --help               show this help

Environment:
${UPSTREAMS}${REDIS}  RATESMITH_KEYS         same as --keys
  RATESMITH_COUNTERS     same as --counters, but keeps the password out of the process list
${PROXIES}${PROVIDERS}`,

  keys: `Usage: ratesmith keys create --plan <plan> --name <name> [options]
       ratesmith keys list [--json]
       ratesmith keys revoke <id or name>
       ratesmith keys usage --counters <place> [--json]

Creates, lists and revokes API keys for ratesmith serve --keys. A key is printed once; the file has
only its hash. Running servers notice changes within 10 s.

Options:
  --keys <file>        file with the keys: SQLite if it ends in .db or .sqlite, else JSON
                       (default: RATESMITH_KEYS)
  --plan <plan>        plan of the key, a name from --plan of serve
  --name <name>        owner of the key
  --expires <end>      number of days (90d) or last day in UTC (YYYY-MM-DD) (default never)
  --origin <origin>    origin of web pages that may use the key, repeatable (default all)
  --counters <place>   counters of serve: redis://... or an SQLite file
  --json               print one line of JSON
  --help               show this help

Environment:
  RATESMITH_KEYS         same as --keys
  RATESMITH_COUNTERS     same as --counters, but keeps the password out of the process list
`,
}

export type CommandName = keyof typeof HELP
