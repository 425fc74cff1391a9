import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { freePort } from '../../system/ports.ts'
import { startRedis } from '../../system/redis-server.ts'
import { ROOT } from '../../system/root.ts'
import type { Block, Page } from './page.ts'
import { installPackage, link, packagesOf } from './packages.ts'
import { openUpstreams } from './upstreams.ts'

/** The folder of a reader who follows one page: the package is installed in it, and the named blocks are its files. */
export interface Site {
  folder: string
  /** For whatever runs there. */
  env: NodeJS.ProcessEnv
  /** The text of a block with ports that are free instead of those that it shows. */
  adapted(text: string): string
  /** Writes a block into its file, and returns that file's name. */
  write(block: Block): string
  close(): Promise<void>
}

const DEFAULT_PORTS = ['3000', '8000', '8787']

/** The programs that are run beside a block or before it, by their names in the folder. */
const PROGRAMS = { 'asking-program.ts': 'asking.mts', 'upstream-program.ts': 'upstream.mts' }

const NAME = /^\/\/ ([\w.-]+\.\w+)\n/

/** Opens the folder of a page; whoever calls this closes it. */
export async function openSite(page: Page): Promise<Site> {
  const folder = makeFolder(page)
  const upstreams = await openUpstreams()
  const redis = page.text.includes(':6379') ? await startRedis() : undefined
  const ports = await freePorts(page)
  if (redis) ports.set('6379', String(redis.port))
  const site: Site = {
    folder,
    env: environment(folder, upstreams.url),
    adapted: (text) => text.replaceAll(/\b\d{4,5}\b/g, (port) => ports.get(port) ?? port),
    write(block) {
      const name = nameOf(block)
      writeFileSync(join(folder, name), site.adapted(block.text))
      return name
    },
    async close() {
      upstreams.close()
      await redis?.kill()
      rmSync(dirname(folder), { recursive: true, force: true })
    },
  }
  for (const block of page.blocks.filter(isFile)) site.write(block)
  return site
}

/** A folder with all that the page has to be installed, and what is run there beside its own programs. */
function makeFolder(page: Page): string {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'ratesmith-page-'))), 'app')
  installPackage(folder)
  for (const name of packagesOf(page)) link(folder, name)
  for (const [program, name] of Object.entries(PROGRAMS)) {
    copyFileSync(join(import.meta.dirname, program), join(folder, name))
  }
  return folder
}

/** Whether a block says in a comment on its first line which file it is. */
function isFile({ text }: Block): boolean {
  return NAME.test(text)
}

/** That file, or one that is named after the line of the page. */
export function nameOf({ text, line }: Block): string {
  return NAME.exec(text)?.[1] ?? `line-${line}.mts`
}

/** A free port for each that a page shows or that is a default. */
async function freePorts({ text }: Page): Promise<Map<string, string>> {
  const shown = [...text.matchAll(/(?:127\.0\.0\.1|localhost):(\d{4,5})/g)]
  const ports = new Set([...DEFAULT_PORTS, ...shown.map(([, port = '']) => port)])
  const free = new Map<string, string>()
  for (const port of ports) free.set(port, String(await freePort()))
  return free
}

/** What this process has from whoever started it, and a reader has not: proxies, and the settings of npm and of vitest. */
const OURS = /^(?:https?_proxy|npm_.*|node_env|vitest.*|test)$/i

/** The environment of a reader: the commands of what is installed, and stand-ins for the upstreams. */
function environment(folder: string, upstream: string): NodeJS.ProcessEnv {
  const theirs = Object.entries(process.env).filter(([name]) => !OURS.test(name))
  return {
    ...Object.fromEntries(theirs),
    PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(':'),
    NO_COLOR: '1',
    NODE_OPTIONS: `--import ${join(folder, 'upstream.mts')}`,
    DOCUMENTATION_UPSTREAM: upstream,
    RATESMITH_CACHE_DIR: join(folder, 'cache'),
  }
}
