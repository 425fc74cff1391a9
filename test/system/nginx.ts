import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, vi } from 'vitest'

import { endWithThis, startChild } from './child.ts'
import type { Child } from './child.ts'
import type { Asked, HandlerName } from './origin-program.ts'
import { freePort } from './ports.ts'
import { temporaryFolder } from './processes.ts'
import { ROOT } from './root.ts'

/** Where Debian installs it. */
export const NGINX = '/usr/sbin/nginx'

/** Keeps it in its folder, and in this process. */
const OWN = 'daemon off; master_process off; pid nginx.pid; error_log stderr; events {}'
const OWN_HTTP = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path ${name};`)
  .join(' ')

/** The known form of nginx's files: `NGX_HTTP_CACHE_VERSION`. */
const VERSION = 5n
/** Offsets of 64-bit numbers in a file: seconds since the Unix epoch, and durations in seconds. */
const AT = { version: 0, validUntil: 8, staleWhileRevalidate: 16, staleIfError: 24, keptAt: 40 }

/** For how many seconds nginx treats a stored response as fresh, and for how many more it may still serve it. */
export interface Kept {
  maxAge: number
  staleWhileRevalidate: number
  staleIfError: number
}

/** A response through nginx; `from` is its own cache status. */
export interface Seen {
  status: number
  from: string | null
  headers: Headers
  body: string
}

/** `text` with `inserted` instead of `replaced`, which must occur. */
export function replace(text: string, replaced: string, inserted: string): string {
  if (!text.includes(replaced)) throw new Error(`no ${replaced} in ${text}`)
  return text.replace(replaced, () => inserted)
}

/** Starts an app behind nginx with the documented configuration, changed by `change`; both end with the test. */
export async function startProxiedApp(change = (configuration: string): string => configuration) {
  const app = startChild({ program: 'test/system/origin-program.ts', settings: {} })
  onTestFinished(app.kill)
  const { url: appUrl }: { url: string } = JSON.parse(await app.firstLine)
  const { url, cache } = await startNginx(change(documentedConfiguration()), appUrl)
  const paths = (): string[] => readdirSync(cache).map((name) => join(cache, name))
  return {
    app: app satisfies Child,
    /** Sends a request through nginx. A response may be complete before it is stored. */
    async ask(target: string, init?: RequestInit): Promise<Seen> {
      const response = await fetch(url + target, init)
      const { status, headers } = response
      const body = await response.text()
      const unfinished = (): string[] => readdirSync(cache).filter((name) => name.includes('.'))
      await expect.poll(unfinished, { timeout: 20_000, interval: 10 }).toEqual([])
      return { status, from: headers.get('x-cache-status'), headers, body }
    },
    /** The requests that have reached the app. */
    async asked(): Promise<Asked[]> {
      return JSON.parse(await (await fetch(`${appUrl}/asked`)).text())
    },
    /** Gives the app another handler. */
    become: (name: HandlerName): Promise<unknown> => fetch(`${appUrl}/become/${name}`),
    /** Everything that nginx stores. */
    kept: (): Kept[] =>
      paths().map((path) => {
        const file = readEntry(path)
        const numberAt = (offset: number): number => Number(file.readBigInt64LE(offset))
        return {
          maxAge: numberAt(AT.validUntil) - numberAt(AT.keptAt),
          staleWhileRevalidate: numberAt(AT.staleWhileRevalidate),
          staleIfError: numberAt(AT.staleIfError),
        }
      }),
    /** Makes all of it older by `seconds`. */
    makeOlder(seconds: number): void {
      for (const path of paths()) {
        const file = readEntry(path)
        for (const offset of [AT.validUntil, AT.keptAt]) {
          file.writeBigInt64LE(file.readBigInt64LE(offset) - BigInt(seconds), offset)
        }
        writeFileSync(path, file)
      }
    },
  }
}

function readEntry(path: string): Buffer {
  const file = readFileSync(path)
  const version = file.readBigInt64LE(AT.version)
  if (version !== VERSION) throw new Error(`nginx writes files of version ${version}`)
  return file
}

/** The configuration in the page about caching. */
function documentedConfiguration(): string {
  const page = readFileSync(join(ROOT, 'docs/http-caching.md'), 'utf8')
  const [, block] = /^```nginx\n(.*?)^```/ms.exec(page) ?? []
  if (block === undefined) throw new Error('the page has no configuration of nginx')
  return block
}

/** Starts nginx in front of `app`; it writes into its own folder. Both end with the test. */
async function startNginx(
  configuration: string,
  app: string,
): Promise<{ url: string; cache: string }> {
  const folder = temporaryFolder()
  const cache = join(folder, 'cache')
  const url = `http://127.0.0.1:${await freePort()}`
  let http = replace(configuration, 'http://127.0.0.1:8787', app)
  http = replace(http, 'listen 80;', `listen ${new URL(url).host};`)
  http = replace(http, '/var/cache/ratesmith', cache)
  const file = `${OWN}\nhttp { access_log off; ${OWN_HTTP} ${http} }`
  writeFileSync(join(folder, 'nginx.conf'), file)
  const child = spawn(NGINX, ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = endWithThis(child)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await vi
    .waitFor(() => fetch(url), { timeout: 20_000, interval: 20 })
    .catch(() => {
      throw new Error(`nginx does not answer: ${stderr}`)
    })
  return { url, cache }
}
