import { ROW } from '../api/parameters.ts'
import * as flags from './flags.ts'
import { toTable, wrapped } from './terminal.ts'
import type { Flag } from './usage.ts'

interface Page {
  summary: readonly [args: string, meaning: string]
  /** Forms of the arguments (default: those of the summary). */
  usage?: readonly string[]
  about: string
  options: Readonly<Record<string, Flag>>
  examples: readonly string[]
}

export const TOPICS = ['environment', 'providers'] as const

const columns = Object.keys(ROW.parameters).filter((name) => name !== 'source')

export const PAGES = {
  convert: {
    summary: ['[amount] <from> <to>', 'convert an amount into one or several currencies'],
    usage: ['[amount] <from> [to] <to>[,<to>...] [day]', '- (lines from stdin)', '--file <file>'],
    about: `Converts an amount (default 1) at the latest rate, or at the rate of a day. Amounts, currencies and days may be words,
such as €50, swiss francs, yesterday, 30d and last friday. Several codes give a table. With -, each line
of stdin, such as 100 USD EUR, gives a line. With --file, the rows of a CSV file get the columns rate, result, rateDate, source and
error; its first line names the columns: ${columns.join(', ')}; with --to, to is not needed.`,
    options: flags.CONVERT_OPTIONS,
    examples: [
      'ratesmith 1,000 usd to eur',
      'ratesmith convert 100 USD EUR,GBP,JPY yesterday',
      'ratesmith convert 100 USD CHF --round cash',
      "printf '100 USD EUR\\n5 GBP JPY\\n' | ratesmith convert -",
      "printf 'Date;Currency;Amount\\n15.1.2026;USD;12,50\\n' | ratesmith convert --file - --to EUR --columns from=Currency --date-format DMY --decimal comma",
    ],
  },
  latest: {
    summary: ['[base] [symbols]', 'show latest rates against a base, or the rates of a day'],
    about: `Shows latest rates: units of each currency per unit of the base. A terminal shows the major currencies unless --all or
--symbols is set; pipes get all of them.`,
    options: flags.LATEST_OPTIONS,
    examples: [
      'ratesmith latest -b EUR --all',
      'ratesmith latest EUR USD,GBP,JPY',
      'ratesmith latest --sort change',
      'ratesmith latest --date 2020-02-28 --csv',
      'ratesmith latest EUR USD,GBP --format ledger',
    ],
  },
  history: {
    summary: ['<from> <to>', 'chart the daily reference rates of one or several pairs'],
    usage: ['<from> <to>[,<to>...] [period]'],
    about: `Shows daily reference rates: a chart and a summary on a terminal, one line per day elsewhere. Several codes give a table.`,
    options: flags.HISTORY_OPTIONS,
    examples: [
      'ratesmith history usd/eur 1y',
      'ratesmith history EUR USD,GBP --start 2021-01-01 --interval year --value average',
      'ratesmith history USD EUR --start 2008-01-01 --end 2009-12-31 --csv',
      'ratesmith history EUR USD,GBP --layout wide --fill previous',
      'ratesmith history usd eur -p 1W --format beancount',
    ],
  },
  currencies: {
    summary: ['[search]', 'list currencies'],
    about: 'Lists the currencies that match, and the rates available for each.',
    options: flags.RATES_OPTIONS,
    examples: ['ratesmith currencies', 'ratesmith currencies krona', 'ratesmith currencies 978 -j'],
  },
  sources: {
    summary: ['', 'list the sources of reference rates, for --source'],
    about: `Lists the sources of reference rates in order of preference: the id for --source, the currency that all others are quoted
against, how often and since when rates are published, the newest day, and the page with the terms of use.`,
    options: flags.RATES_OPTIONS,
    examples: ['ratesmith sources', 'ratesmith sources --pegs', 'ratesmith sources --json'],
  },
  status: {
    summary: ['', 'show how fresh the rates are'],
    about: `Fetches rates that are due, and shows how fresh those of each source are: current, overdue, late (the source has published no
newer ones) or missing. Exits with 1 if some are missing.`,
    options: flags.RATES_OPTIONS,
    examples: ['ratesmith status', 'ratesmith status --no-cache', 'ratesmith status --json'],
  },
  export: {
    summary: ['<folder>', 'write all rates to a folder, for a CDN or DuckDB'],
    about: `Writes latest rates, all days with rates as NDJSON and CSV, currencies and sources to files with their digest in their
name, and index.json, which lists them. The same rates give the same files; only those of years that have changed are written. The
default of --latest is ecb, because the terms of the usual default forbid passing rates on.`,
    options: flags.EXPORT_OPTIONS,
    examples: [
      'ratesmith export rates',
      'ratesmith export rates --since 2020',
      'ratesmith export rates --history ecb,norges-bank --json',
    ],
  },
  sync: {
    summary: ['<database>', 'write reference rates into a table'],
    usage: ['sqlite:<file>', 'postgres://<user>@<host>/<name>'],
    about: `Makes a table equal to published reference rates: inserts the rows it lacks, updates those with another rate, and leaves
the others. Creates the table unless it exists. Prints how many rows it has changed; after a failure, run it again.
PostgreSQL requires pg (npm install pg), which reads the password from PGPASSWORD or ~/.pgpass.`,
    options: flags.SYNC_OPTIONS,
    examples: [
      'ratesmith sync sqlite:rates.db --since 30d',
      'ratesmith sync sqlite:rates.db --since 2026 --symbols USD,GBP --table finance_rates',
      'ratesmith sync sqlite:rates.db --demo --since 1y --json',
    ],
  },
  mcp: {
    summary: ['', 'serve rates as tools to an agent, on stdin and stdout'],
    about: `Serves rates as tools to an agent by the Model Context Protocol, on stdin and stdout: agents start it themselves, see
docs/agents.md. Requires @modelcontextprotocol/server (npm install @modelcontextprotocol/server).`,
    options: flags.MCP_OPTIONS,
    examples: ['ratesmith mcp', 'ratesmith mcp --demo', 'ratesmith mcp --history ecb --pegs'],
  },
  doctor: {
    summary: ['', 'check every provider and store'],
    about: `Checks the providers of --latest and --history, or with --all every built-in one, and every store. Shows how to fix
each failure. --all skips providers whose key is not in the environment.`,
    options: flags.DOCTOR_OPTIONS,
    examples: ['ratesmith doctor', 'ratesmith doctor --no-cache', 'ratesmith doctor --json'],
  },
  serve: {
    summary: ['[config.ts]', 'serve exchange rates over HTTP'],
    about: `Serves exchange rates over HTTP. Keys and limits, CORS, HTTPS, metrics and the access log are settings of a config file: see
docs/command-line.md. A flag counts more than the file.`,
    options: flags.SERVE_OPTIONS,
    examples: [
      'ratesmith serve --port 0',
      'ratesmith serve --store rates --port 0',
      'ratesmith serve config.ts --port 0',
    ],
  },
  keys: {
    summary: ['<action>', 'create, list and revoke API keys of serve'],
    usage: ['create --plan <plan> --name <name>', 'list', 'revoke <id or name>'],
    about: `Creates, lists and revokes API keys for the config file of ratesmith serve. A key is printed once; the file has only its hash.
Running servers notice changes within 10 s.`,
    options: flags.KEYS_OPTIONS,
    examples: [
      'ratesmith keys create --plan pro --name acme --keys keys.json',
      'ratesmith keys list --keys keys.json',
      'ratesmith keys revoke acme --keys keys.json',
    ],
  },
  help: {
    summary: ['[command]', 'show this help, or the page of a command or topic'],
    usage: ['[command]', TOPICS.join('|')],
    about: 'Shows an overview, the page of a command, the environment variables or the providers.',
    options: {},
    examples: ['ratesmith help', 'ratesmith help convert', 'ratesmith help environment'],
  },
} as const satisfies Record<string, Page>

export type CommandName = keyof typeof PAGES

const WIDTH = 80
const PLAIN = { isTTY: false, width: WIDTH, hasColour: false, hasUnicode: true }
const INDENT = 23

export function overview(): string {
  const lines = Object.entries(PAGES).map(([name, { summary }]) => {
    const [args, meaning] = summary
    return `  ${`${name} ${args}`.padEnd(30)}  ${meaning}`
  })
  return `Usage: ratesmith [amount] <from> [to] <to>
       ratesmith <command> [options]

Commands:
${lines.join('\n')}

Options:
  -h, --help     show this help, or that of a command: ratesmith help convert
  -v, --version  show the version, as ratesmith version does

Examples:
  ratesmith 1,000 usd to eur
  ratesmith history usd/eur -p 1Y
  ratesmith serve --demo

Exit codes: 0 success, 1 no data or a failed check, 2 invalid usage.
More: ratesmith help environment, ratesmith help providers
`
}

/** Headings of the flags on long pages. */
const GROUPS = Object.entries({
  Listen: 'port host base-path',
  Rates:
    'base symbols date rule max-age source reverse round quote context change period since sources start end interval value fill',
  Files: 'file to columns decimal date-format time-zone prefix',
  Data: 'table latest history allow pegs demo store no-cache',
  Output: 'all sort layout format csv json quiet log',
})

export function pageOf(name: CommandName): string {
  const { summary, usage = [summary[0]], about, options, examples }: Page = PAGES[name]
  const uses = usage.map((args) => `ratesmith ${name} ${args}`.trimEnd())
  return `Usage: ${uses.map((use) => `${use} [options]`).join('\n       ')}

${paragraph(about)}

${flagsOf(options)}
${row(headOf('help', { short: 'h' }), 'show this help')}

Examples:
${examples.map((example) => `  ${example}`).join('\n')}

More: ratesmith help environment, ratesmith help providers
`
}

/** Returns the flags below a heading, or below those of three and more groups. */
function flagsOf(options: Page['options']): string {
  const all = Object.entries(options)
  const part = (title: string, members: [string, Flag][]): string =>
    [`${title}:`, ...members.map(([flag, each]) => row(headOf(flag, each), each.help))].join('\n')
  const groups = GROUPS.flatMap(([title, names]) => {
    const members = all.filter(([flag]) => names.split(' ').includes(flag))
    return members.length === 0 ? [] : [part(title, members)]
  })
  return groups.length > 2 ? groups.join('\n\n') : part('Options', all)
}

/** Returns `-b, --base <code>`, indented where a flag has no letter. */
function headOf(name: string, { short, value }: Pick<Flag, 'short' | 'value'>): string {
  const head = short === undefined ? `    --${name}` : `-${short}, --${name}`
  return value === undefined ? head : `${head} ${value}`
}

/** Returns two columns; a long head has a line without the second one. */
function row(head: string, text: string): string {
  const gap = `\n${' '.repeat(INDENT + 2)}`
  const lines = wrapped(text, WIDTH - INDENT - 2).join(gap)
  return `  ${head.length + 2 > INDENT ? head + gap : head.padEnd(INDENT)}${lines}`
}

export async function environmentPage(): Promise<string> {
  const { loadProviders } = await import('./providers.ts')
  const keys = (await loadProviders()).flatMap(({ keyVariable }) => keyVariable ?? []).join(', ')
  const rows = {
    'RATESMITH_LATEST, RATESMITH_HISTORY': 'same as --latest and --history',
    'RATESMITH_LATEST_URL, RATESMITH_HISTORY_URL':
      "root URLs that replace the providers' own, comma-separated",
    [keys]: 'keys of the providers that require one',
    RATESMITH_CACHE_DIR: "folder for fetched rates (default: the user's cache folder)",
    RATESMITH_STORE:
      'same as --store of serve and doctor, but keeps the password out of the process list',
    RATESMITH_KEYS: 'same as --keys of keys',
    RATESMITH_QUOTE_SECRETS:
      'secrets of serve and --quote: at least 32 bytes each, comma-separated; the first signs',
    'HTTPS_PROXY, HTTP_PROXY, NO_PROXY': 'proxies for upstream calls, and hosts that bypass them',
    NO_COLOR: 'turn colours off',
    FORCE_COLOR: 'turn colours on for every output, or off with 0',
  }
  const lines = Object.entries(rows).map(([name, text]) => row(name, text))
  return `Environment variables:\n${lines.join('\n')}\n`
}

export async function providersPage(): Promise<string> {
  const { providerRows } = await import('./provider-table.ts')
  const about = `Providers, tried in order until one succeeds; choose them with --latest and --history, comma-separated. For history, banks
widen the coverage: a pair has the rates of the first one with both currencies. * is the default. ratesmith help environment has the
variables of the keys, docs/choose-your-rates.md what you may do with the rates.`
  return `${paragraph(about)}\n\n${toTable(await providerRows(), 'title', PLAIN).join('\n')}\n`
}

function paragraph(text: string): string {
  return wrapped(text.replaceAll('\n', ' '), WIDTH).join('\n')
}
