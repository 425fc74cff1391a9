import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { inject } from 'vitest'

import { startRedis } from '../../system/redis-server.ts'
import { ROOT } from '../../system/runtimes.ts'
import { freePort } from '../../system/sockets.ts'
import { openUpstreams } from '../../system/upstreams.ts'
import type { Block, Page } from './page.ts'

/** A folder with the installed package and the named blocks of a page as files. */
export type Site = Awaited<ReturnType<typeof openSite>>

const DEFAULT_PORTS = ['3000', '8000', '8787']

const PROGRAMS = { 'request-program.ts': 'asking.mts', 'upstream-program.ts': 'upstream.mts' }

const NAME = /^\/\/ ([\w.-]+\.\w+)\n/

/** Variables that a reader's environment lacks: proxies, and the settings of npm and Vitest. */
const OWN_VARIABLES = /^(?:https?_proxy|npm_.*|node_env|vitest.*|test)$/i

export async function openSite(pages: readonly Page[]) {
  const text = pages.map((page) => page.text).join('\n')
  const folder = makeFolder(packagesIn(text))
  const upstreams = await openUpstreams()
  const redis = text.includes(':6379') ? await startRedis() : undefined
  const ports = await freePorts(text)
  if (redis) ports.set('6379', String(redis.port))
  const adapted = (shown: string): string =>
    shown.replaceAll(/\b\d{4,5}\b/g, (port) => ports.get(port) ?? port)
  return {
    folder,
    adapted,
    /** Additions to this process's environment for programs in the folder. */
    env: {
      ...withoutOwnVariables(),
      PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(':'),
      NODE_OPTIONS: `--import ${join(folder, 'upstream.mts')}`,
      DOCUMENTATION_UPSTREAM: upstreams.url,
      RATESMITH_CACHE_DIR: join(folder, 'cache'),
    },
    write(block: Block): string {
      const name = nameOf(block)
      writeFileSync(join(folder, name), adapted(block.text))
      return name
    },
    async close(): Promise<void> {
      upstreams.close()
      await redis?.kill()
      rmSync(dirname(folder), { recursive: true, force: true })
    },
  }
}

/** Returns an environment for `launch` that removes what a reader's environment lacks. */
export function withoutOwnVariables(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => OWN_VARIABLES.test(name))
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

/** Returns whether the first line of a block is a comment with its file name. */
export function isFile({ text }: Block): boolean {
  return NAME.test(text)
}

/** Returns the file name of a block; by default it is made from the line of the page. */
export function nameOf({ text, line }: Block): string {
  return NAME.exec(text)?.[1] ?? `line-${line}.mts`
}

export function installedBy(command: string): string[] {
  const [, words = ''] = /\b(?:npm install|bun add|deno add) ([^\n`&|#]+)/.exec(command) ?? []
  const names = words.split(/\s+/).filter((word) => /^[a-z@]/.test(word))
  return names.map((name) => name.replace(/^npm:|(?<=.)@[\w.]+$/, ''))
}

/** Returns the packages that a text installs or runs, and that this project has. */
function packagesIn(text: string): string[] {
  const installs = text.match(/\b(?:npm install|bun add|deno add) [^\n`]+/g) ?? []
  const runs = [...text.matchAll(/^npx (\S+)/gm)].map(([, name = '']) => name)
  const names = new Set([...installs.flatMap(installedBy), ...runs])
  names.delete('ratesmith')
  return [...names].filter((name) => existsSync(join(ROOT, 'node_modules', name)))
}

/** Creates a folder with the installed package, links to other packages, and our programs. */
function makeFolder(names: readonly string[]): string {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'ratesmith-page-'))), 'app')
  const modules = join(folder, 'node_modules')
  mkdirSync(folder)
  // Hard links, as the package has hundreds of files.
  execFileSync('cp', ['-al', join(inject('installed').folder, 'node_modules'), folder])
  for (const name of names) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    const program = join(ROOT, 'node_modules/.bin', name)
    if (existsSync(program)) symlinkSync(program, join(modules, '.bin', name))
  }
  const dependencies = Object.fromEntries(['ratesmith', ...names].map((name) => [name, '*']))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }))
  for (const [program, name] of Object.entries(PROGRAMS)) {
    copyFileSync(join(import.meta.dirname, program), join(folder, name))
  }
  return folder
}

async function freePorts(text: string): Promise<Map<string, string>> {
  const shown = [...text.matchAll(/(?:127\.0\.0\.1|localhost):(\d{4,5})/g)]
  const free = new Map<string, string>()
  for (const port of new Set([...DEFAULT_PORTS, ...shown.map(([, each = '']) => each)])) {
    free.set(port, String(await freePort()))
  }
  return free
}
