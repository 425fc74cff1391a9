#!/usr/bin/env node
import manifest from 'ratesmith/package.json' with { type: 'json' }

import { UsageError } from './usage-error.ts'

const HELP = `Usage: ratesmith serve [options]

Serves exchange rates over HTTP.

Options:
  --port <number>      port to listen on, 0 for any free one (default 8787)
  --host <address>     address to listen on (default 127.0.0.1)
  --https              speak HTTPS, as the next two say too
  --https-key <file>   its private key (PEM)
  --https-cert <file>  its certificate (PEM), and behind that those in between
  --base-path <path>   prefix of every path (default /api)
  --cors <scope>       what scripts of any origin may read: v1, all or off (default v1)
  --no-compress        no gzip and brotli
  --no-explorer        no page at the base path to try the API with
  --demo               synthetic rates, without any network
  --data <folder>      keep fetched rates there, for the next start
  --redis <url>        keep them in Redis, and share them with other servers
  --log <format>       json or text (default text on a terminal, else json)
  --help               show this
  --version            show the version

Environment:
  RATESMITH_LATEST_URL   root of the latest-rates feed (default https://open.er-api.com)
  RATESMITH_HISTORY_URL  root of the reference-rates relay (default https://api.frankfurter.dev)
  RATESMITH_REDIS_URL    as --redis, without showing its password in a list of processes
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                         proxies for upstream calls, and hosts to call without
`

async function main(args: string[]): Promise<number> {
  const [command, ...rest] = args
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP)
    return 0
  }
  if (args.includes('--version') || args.includes('-v')) {
    process.stdout.write(`${manifest.version}\n`)
    return 0
  }
  if (command === 'serve') {
    const { serve } = await import('./serve.ts')
    const code = await serve(rest)
    // What a client still holds open must not hold the process.
    process.exit(code)
  }
  throw new UsageError(
    command === undefined ? 'no command, try ratesmith serve --demo' : `no command ${command}`,
  )
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof UsageError
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`ratesmith: ${message}${isUsage ? ' (see ratesmith --help)' : ''}\n`)
  process.exitCode = isUsage ? 2 : 1
}
