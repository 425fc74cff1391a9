import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { vi } from 'vitest'

import { openPage } from '../release/documentation/page.ts'
import { start } from './processes.ts'
import { freePort } from './sockets.ts'

export const NGINX = '/usr/sbin/nginx'

const OWN = 'daemon off; master_process off; pid nginx.pid; error_log stderr; events {}'
const OWN_HTTP = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path ${name};`)
  .join(' ')

/** The supported format of nginx's cache files: `NGX_HTTP_CACHE_VERSION`. */
const VERSION = 5n
/** Offsets of 64-bit numbers in a cache file: seconds since the Unix epoch, and durations in seconds. */
const AT = { version: 0, validUntil: 8, staleWhileRevalidate: 16, staleIfError: 24, keptAt: 40 }

export function replace(text: string, replaced: string, inserted: string): string {
  if (!text.includes(replaced)) throw new Error(`no ${replaced} in ${text}`)
  return text.replace(replaced, () => inserted)
}

/** Returns the only configuration on `page` in `language` that contains `directive`. */
export function documentedConfiguration(
  page: string,
  directive = 'proxy_cache ',
  language = 'nginx',
): string {
  const configurations = openPage(page).blocks.filter(
    (block) => block.language === language && block.text.includes(directive),
  )
  const [found, ...others] = configurations
  if (!found || others.length > 0) {
    throw new Error(
      `expected one ${language} configuration with ${directive} in ${page}, got ${configurations.length}`,
    )
  }
  return found.text
}

/** Starts nginx with `configuration`, and returns its URL; it ends with the test. */
export async function startNginx(configuration: string, folder: string): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`
  const http = replace(configuration, 'listen 80;', `listen ${new URL(url).host};`)
  const file = `${OWN}\nhttp { access_log off; ${OWN_HTTP} ${http} }`
  writeFileSync(join(folder, 'nginx.conf'), file)
  const nginx = start(NGINX, ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'])
  await vi
    .waitFor(() => fetch(url), { timeout: 20_000, interval: 20 })
    .catch(() => {
      throw new Error(`nginx does not respond: ${nginx.stderr}`)
    })
  return url
}

/** Opens the files of nginx's cache in `folder`. */
export function openCache(folder: string) {
  const paths = (): string[] => readdirSync(folder).map((name) => join(folder, name))
  return {
    /** Returns the names of files that nginx has not completed. */
    unfinished: () => readdirSync(folder).filter((name) => name.includes('.')),
    /** Returns the stored responses, with their heads. */
    texts: () => paths().map((path) => readFileSync(path, 'latin1')),
    /** Returns the lifetimes of the stored responses, and how long nginx may serve them stale, in seconds. */
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
  if (version !== VERSION) throw new Error(`unsupported version ${version} of nginx cache files`)
  return file
}
