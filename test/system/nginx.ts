import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'

import { expect, vi } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { LatestProvider, RatesHandlerOptions } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { freePort } from './ports.ts'
import { listen, start, temporaryFolder } from './processes.ts'
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

/** The data of the app, which can be given others while it runs. */
const now = (): number => Date.UTC(2026, 10, 20, 18)
const market = fakeProviders({ now })
const withoutEuro: LatestProvider = {
  ...market.latest,
  async fetchLatest(context) {
    const { rates, ...table } = await market.latest.fetchLatest(context)
    const others = Object.entries(rates).filter(([code]) => code !== 'EUR')
    return { ...table, rates: Object.fromEntries(others) }
  },
}
const withoutData: LatestProvider = {
  ...market.latest,
  fetchLatest: () => Promise.reject(new Error('no data')),
}
const APPS = {
  good: { providers: market },
  republished: { providers: fakeProviders({ seed: 2, now }) },
  withoutEuro: { providers: { latest: withoutEuro } },
  elsewhere: { providers: market, basePath: '/elsewhere' },
  withoutData: { providers: { latest: withoutData } },
} satisfies Record<string, RatesHandlerOptions>

/** `text` with `inserted` instead of `replaced`, which must occur. */
export function replace(text: string, replaced: string, inserted: string): string {
  if (!text.includes(replaced)) throw new Error(`no ${replaced} in ${text}`)
  return text.replace(replaced, () => inserted)
}

/** Starts an app behind nginx with the documented configuration, changed by `change`; both end with the test. */
export async function startProxiedApp(change = (configuration: string): string => configuration) {
  /** The requests that have reached the app. */
  const asked: { method: string; target: string; ifNoneMatch: string | null }[] = []
  let answer: RequestListener
  /** Gives the app another handler. */
  const become = (name: keyof typeof APPS): void => {
    answer = toNodeHandler(createRatesHandler({ ...APPS[name], now }))
  }
  become('good')
  const app = await listen((request, response) => {
    const { method = '', url: target = '', headers } = request
    asked.push({ method, target, ifNoneMatch: headers['if-none-match'] ?? null })
    answer(request, response)
  })
  const { url, cache } = await startNginx(change(documentedConfiguration()), app.url)
  const paths = (): string[] => readdirSync(cache).map((name) => join(cache, name))
  return {
    asked,
    become,
    /** Has the app accept requests and answer none. */
    hang: (): void => void (answer = () => {}),
    kill: app.close,
    /** Sends a request through nginx; `from` is its cache status. A response may be complete before it is stored. */
    async ask(target: string, init?: RequestInit) {
      const response = await fetch(url + target, init)
      const { status, headers } = response
      const body = await response.text()
      const unfinished = (): string[] => readdirSync(cache).filter((name) => name.includes('.'))
      await expect.poll(unfinished, { timeout: 20_000, interval: 10 }).toEqual([])
      return { status, from: headers.get('x-cache-status'), headers, body }
    },
    /** For how many seconds nginx treats each stored response as fresh, and for how many more it may still serve it. */
    kept: () =>
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
async function startNginx(configuration: string, app: string) {
  const folder = temporaryFolder()
  const cache = join(folder, 'cache')
  const url = `http://127.0.0.1:${await freePort()}`
  let http = replace(configuration, 'http://127.0.0.1:8787', app)
  http = replace(http, 'listen 80;', `listen ${new URL(url).host};`)
  http = replace(http, '/var/cache/ratesmith', cache)
  const file = `${OWN}\nhttp { access_log off; ${OWN_HTTP} ${http} }`
  writeFileSync(join(folder, 'nginx.conf'), file)
  const nginx = start(NGINX, ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'])
  await vi
    .waitFor(() => fetch(url), { timeout: 20_000, interval: 20 })
    .catch(() => {
      throw new Error(`nginx does not answer: ${nginx.stderr}`)
    })
  return { url, cache }
}
