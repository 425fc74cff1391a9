import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { faultOfServer, startJob } from './job.ts'
import type { Job } from './job.ts'
import type { Block } from './page.ts'
import { installedBy } from './site.ts'
import type { Site } from './site.ts'

/** Additions to commands: the replacement of upstreams, which Node loads through the environment, and errors of curl. */
const ADDITIONS: [form: RegExp, replacement: string][] = [
  [/^deno (run|serve|test)\b/, 'deno $1 --preload=./upstream.mts'],
  [/^bun (?=[\w./-]+\.mts\b)/, 'bun --preload=./upstream.mts '],
  [/^bun test\b/, 'bun test --preload=./upstream.mts'],
  [/^bunx\b/, 'BUN_OPTIONS=--preload=./upstream.mts bunx'],
  [/^curl\b/, 'curl --fail --silent --show-error'],
]

/** Returns the commands of a block, without comments, with continued lines joined. */
export function commandsOf({ text }: Block): string[] {
  const lines = text.replaceAll(/ *\\\n\s*/g, ' ').split('\n')
  return lines.map((line) => line.replace(/(?:^|\s+)#\s.*$/, '').trim()).filter(Boolean)
}

/** Opens a terminal for the commands of a page in its folder; the caller closes it. */
export function openSession(site: Site) {
  let server: Job | undefined

  async function faultOfCommand(command: string): Promise<string | undefined> {
    const packages = installedBy(command)
    if (packages.length > 0) return faultOfPackages(packages, site)
    const serving = servingOf(command, site)
    if (serving) {
      // The next server may use the same port.
      await server?.stop()
      server = start(serving.command, site)
      return faultOfServer(server, site.adapted(serving.url))
    }
    return start(command, site).ended
  }

  return {
    /** Runs commands in order; resolves with the fault of the first that fails, if any. */
    async faultOf(commands: readonly string[]): Promise<string | undefined> {
      for (const command of commands) {
        const fault = await faultOfCommand(command)
        if (fault !== undefined) return `${command}: ${fault}`
      }
      return undefined
    },
    /** Stops the server of the last command. */
    async close(): Promise<void> {
      await server?.stop()
    },
  }
}

/** Returns the packages that are not in the folder: nothing is installed from the network. */
function faultOfPackages(names: string[], { folder }: Site): string | undefined {
  const missing = names.filter((name) => !existsSync(join(folder, 'node_modules', name)))
  return missing.length > 0 ? `missing: ${missing.join(', ')}` : undefined
}

/** Returns how a command serves, with its port written out, and its URL; nothing if it ends by itself. */
function servingOf(command: string, site: Site): { command: string; url: string } | undefined {
  if (/\bratesmith serve\b/.test(command)) {
    const [, port = '8787'] = /--port[= ](\d+)/.exec(command) ?? []
    const [, base = '/api'] = /--base-path[= ](\S+)/.exec(command) ?? []
    const line = command.includes('--port') ? command : `${command} --port ${port}`
    return { command: line, url: `http://127.0.0.1:${port}${base}/v1/latest` }
  }
  const program = programOf(command, site)
  const [url] = urlsOf(program)
  if (url !== undefined) return { command, url }
  if (!program.includes('\nexport default ')) return undefined
  const latest = (port: string): string => `http://127.0.0.1:${port}/api/v1/latest`
  return command.startsWith('deno serve ')
    ? { command: command.replace(' serve ', ' serve --port 8000 '), url: latest('8000') }
    : { command: `PORT=3000 ${command}`, url: latest('3000') }
}

function programOf(command: string, { folder }: Site): string {
  const [, file] = /^(?:node|bun|deno (?:run|serve) .*?) ?([\w./-]+\.m?[jt]s)$/.exec(command) ?? []
  const path = join(folder, file ?? '')
  return file !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Returns the URLs in comments of a program, which it serves. */
export function urlsOf(program: string): string[] {
  return program.match(/(?<=\/\/ .*)http:\/\/127\.0\.0\.1:\d+[^\s'`]*/g) ?? []
}

function start(command: string, site: Site): Job {
  const added = (text: string, [form, replacement]: [RegExp, string]): string =>
    text.replace(form, replacement)
  const line = ADDITIONS.reduce(added, site.adapted(command))
  return startJob(['sh', '-c', line], site)
}
