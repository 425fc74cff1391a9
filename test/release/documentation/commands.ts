import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { faultOfServer, startJob } from './job.ts'
import type { Job } from './job.ts'
import type { Block } from './page.ts'
import { installedBy } from './packages.ts'
import type { Site } from './site.ts'

/** A terminal that follows the commands of one page. */
export interface Session {
  /** Follows commands in their order; resolves with what went wrong, or with nothing. */
  faultOf(commands: readonly string[]): Promise<string | undefined>
  /** Ends what still serves. */
  close(): Promise<void>
}

/** What a command has besides, here; on Node, the environment loads what stands in for the upstreams. */
const BESIDES: [form: RegExp, by: string][] = [
  [/^deno (run|serve|test)\b/, 'deno $1 --preload=./upstream.mts'],
  [/^bun (?=[\w./-]+\.mts\b)/, 'bun --preload=./upstream.mts '],
  [/^bun test\b/, 'bun test --preload=./upstream.mts'],
  [/^bunx\b/, 'BUN_OPTIONS=--preload=./upstream.mts bunx'],
  // It would be content with an answer that is an error.
  [/^curl\b/, 'curl --fail --silent --show-error'],
]

/** The commands of a block: its lines without comments, those that end with a backslash joined with the next. */
export function commandsOf({ text }: Block): string[] {
  const lines = text.replaceAll(/ *\\\n\s*/g, ' ').split('\n')
  return lines.map((line) => line.replace(/(?:^|\s+)#\s.*$/, '').trim()).filter(Boolean)
}

/** Opens a terminal in the folder of a page; whoever calls this closes it. */
export function openSession(site: Site): Session {
  let server: Job | undefined

  async function faultOfCommand(command: string): Promise<string | undefined> {
    const packages = installedBy(command)
    // What a page says to install is there already, if the project has it.
    if (packages.length > 0) return faultOfPackages(packages, site)
    const serving = servingOf(command, site)
    if (serving) {
      // The next one may want its port.
      await server?.stop()
      server = start(serving.command, site)
      return faultOfServer(server, site.adapted(serving.url))
    }
    const { code, stdout, stderr } = await start(command, site).ended
    return code === 0 ? undefined : `ended with ${code}: ${stdout}${stderr}`
  }

  return {
    async faultOf(commands) {
      for (const command of commands) {
        const fault = await faultOfCommand(command)
        if (fault !== undefined) return `${command}: ${fault}`
      }
      return undefined
    },
    async close() {
      await server?.stop()
    },
  }
}

function faultOfPackages(names: string[], { folder }: Site): string | undefined {
  const missing = names.filter((name) => !existsSync(join(folder, 'node_modules', name)))
  return missing.length > 0 ? `there is no ${missing.join(' and no ')}` : undefined
}

/** A command that goes on until it is told to end, and where it is asked. */
interface Serving {
  command: string
  url: string
}

/** How a command serves, with the port that is its default written out; nothing if it ends by itself. */
function servingOf(command: string, site: Site): Serving | undefined {
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
  const isDeno = command.startsWith('deno serve ')
  return isDeno
    ? { command: command.replace(' serve ', ' serve --port 8000 '), url: served('8000') }
    : { command: `PORT=3000 ${command}`, url: served('3000') }
}

function served(port: string): string {
  return `http://127.0.0.1:${port}/api/v1/latest`
}

/** The text of the page's file that a command runs, or nothing. */
function programOf(command: string, { folder }: Site): string {
  const [, file] = /^(?:node|bun|deno (?:run|serve) .*?) ?([\w./-]+\.m?[jt]s)$/.exec(command) ?? []
  const path = join(folder, file ?? '')
  return file !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Where comments in a program say that it can be asked. */
export function urlsOf(program: string): string[] {
  return program.match(/(?<=\/\/ .*)http:\/\/127\.0\.0\.1:\d+[^\s'`]*/g) ?? []
}

function start(command: string, { folder, env, adapted }: Site): Job {
  const line = BESIDES.reduce((text, [form, by]) => text.replace(form, by), adapted(command))
  return startJob(['sh', '-c', line], { cwd: folder, env })
}
