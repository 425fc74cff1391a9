import type { CommandName } from './commands.ts'

/** What `ratesmith --help` shows. */
export const OVERVIEW = `Usage: ratesmith <command> [options]

Commands:
  convert [amount] <from> <to>    an amount of one currency in another, or in several
  latest                          latest rates against a base, or those of a day
  history <from> <to>             daily reference rates of a pair, as a chart
  currencies [search]             which currencies there are
  doctor                          ask every provider and store, and say what works
  serve                           serve exchange rates over HTTP

Options:
  --help       show this, or what a command takes: ratesmith convert --help
  --version    show the version

Exit codes: 0 for an answer, 1 for none, 2 for wrong use.
`

/** What every command but `serve` takes beside its own. */
const shared = (json: string): string => `  --json               ${json}, as one line of JSON
${PROVIDER_FLAGS}  --demo               synthetic rates, without any network
  --no-cache           without the folder of fetched rates
  --help               show this
`

/** What every command takes that asks providers. */
const PROVIDER_FLAGS = `  --latest <names>     who is asked for latest rates, with commas between, in this order
  --history <names>    who is asked for reference rates
`

const UPSTREAMS = `  RATESMITH_LATEST, RATESMITH_HISTORY
                         as --latest and --history
  RATESMITH_LATEST_URL, RATESMITH_HISTORY_URL
                         other roots than their own, with commas between
  RATESMITH_EXCHANGE_RATE_API_KEY, RATESMITH_OPEN_EXCHANGE_RATES_KEY, RATESMITH_CURRENCYAPI_KEY
                         keys of those that need one
`

const PROVIDERS = `
Providers, of which the first with a good answer counts:
  latest   exchange-rate-api (default), frankfurter-v2, ecb, fawazahmed0,
           exchange-rate-api-v6, open-exchange-rates, currencyapi
  history  frankfurter (default), frankfurter-v2, ecb
`

const PROXIES = `  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                         proxies for upstream calls, and hosts to call without
`

const REDIS = `  RATESMITH_REDIS_URL    as --redis, without showing its password in a list of processes
`

const ENVIRONMENT = `Environment:
${UPSTREAMS}  RATESMITH_CACHE_DIR    folder that fetched rates are kept in (default the user's own for caches)
  NO_COLOR               no colours
${PROXIES}${PROVIDERS}`

/** What `ratesmith <command> --help` shows. */
export const HELP: Record<CommandName, string> = {
  convert: `Usage: ratesmith convert [amount] <from> <to>[,<to>...] [options]

Converts an amount (default 1) at the latest rate: ratesmith convert 100 USD EUR
Several codes make a table: ratesmith convert 100 USD EUR,GBP,JPY

Options:
  --date <day>         at the reference rates of this day, or the last before (YYYY-MM-DD)
  --reverse            how much of <from> gives the amount of <to>
${shared('the answer of the API')}
${ENVIRONMENT}`,

  latest: `Usage: ratesmith latest [options]

Shows latest rates: units of each currency for one of the base.

Options:
  --base <code>        what they are quoted against (default USD)
  --symbols <codes>    these currencies only, separated by commas (default all)
  --date <day>         reference rates of this day, or the last before (YYYY-MM-DD)
${shared('the answer of the API')}
${ENVIRONMENT}`,

  history: `Usage: ratesmith history <from> <to> [options]

Shows daily reference rates: a chart and a summary on a terminal, else one line a day.

Options:
  --period <period>    how far back: 1W, 1M, 3M, 6M, 1Y or 5Y (default 1M)
  --start <day>        instead of a period: the first day, since 1999-01-04
  --end <day>          and the last one (default the newest)
  --interval <length>  every day, or the last of each week or month (default day)
${shared('the answer of the API')}
${ENVIRONMENT}`,

  currencies: `Usage: ratesmith currencies [search] [options]

Lists currencies by code, name or number, and which rates there are of each.

Options:
${shared('the answer of the API')}
${ENVIRONMENT}`,

  doctor: `Usage: ratesmith doctor [options]

Asks every provider and store, and says what works and what to do.

Options:
  --redis <url>        also look at this Redis, or that of RATESMITH_REDIS_URL
${shared('what was found')}
${ENVIRONMENT}`,

  serve: `Usage: ratesmith serve [options]

Serves exchange rates over HTTP.

Options:
  --port <number>      port to listen on, 0 for any free one (default 8787)
  --host <address>     address to listen on (default 127.0.0.1)
  --https              speak HTTPS, as the next two say too
  --https-key <file>   its private key (PEM)
  --https-cert <file>  its certificate (PEM), and behind that those in between
  --base-path <path>   prefix of every path (default /api)
  --cors <scope>       what scripts of any origin may read: v1, all or off (default v1)
  --compat <names>     also serve the paths of these services, with commas between: frankfurter,
                       frankfurter-v2, exchangerate-host, open-exchange-rates, exchange-rate-api
  --no-compress        no gzip and brotli
  --no-explorer        no page at the base path to try the API with
${PROVIDER_FLAGS}  --demo               synthetic rates, without any network
  --data <folder>      keep fetched rates there, for the next start
  --redis <url>        keep them in Redis, and share them with other servers
  --log <format>       json or text (default text on a terminal, else json)
  --help               show this

Environment:
${UPSTREAMS}${REDIS}${PROXIES}${PROVIDERS}`,
}
