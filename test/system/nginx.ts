import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished, vi } from 'vitest'

import { endWithThis } from './child.ts'
import { freePort } from './ports.ts'
import { ROOT } from './root.ts'

/** Where Debian has it. */
export const NGINX = '/usr/sbin/nginx'

/** Without these it would leave its folder, and this process. */
const OWN = `
  daemon off;
  master_process off;
  pid nginx.pid;
  error_log stderr;
  events {}
`
const OWN_HTTP = `
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
`

/** The configuration in the page of caching. */
export function documentedConfiguration(): string {
  const page = readFileSync(join(ROOT, 'docs/http-caching.md'), 'utf8')
  const [, block] = /^```nginx\n(.*?)^```/ms.exec(page) ?? []
  if (block === undefined) throw new Error('the page has no configuration of nginx')
  return block
}

/** `text` with `inserted` in the place of `replaced`, which must be there. */
export function replace(text: string, replaced: string, inserted: string): string {
  if (!text.includes(replaced)) throw new Error(`no ${replaced} in ${text}`)
  return text.replace(replaced, () => inserted)
}

/**
 * Starts nginx with the page's `configuration`, on the loopback interface and before the server at `app`. It writes into
 * a folder of its own; both go at the end of the test. Resolves to its URL and the folder of its cache.
 */
export async function startNginx(
  configuration: string,
  app: string,
): Promise<{ url: string; cache: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-nginx-'))
  const cache = join(folder, 'cache')
  const url = `http://127.0.0.1:${await freePort()}`
  let http = replace(configuration, 'http://127.0.0.1:8787', app)
  http = replace(http, 'listen 80;', `listen ${new URL(url).host};`)
  http = replace(http, '/var/cache/ratesmith', cache)
  writeFileSync(join(folder, 'nginx.conf'), `${OWN} http { ${OWN_HTTP} ${http} }`)
  const child = spawn(NGINX, ['-e', 'stderr', '-p', folder, '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = endWithThis(child)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  })
  await vi
    .waitFor(() => fetch(url), { timeout: 10_000, interval: 20 })
    .catch(() => {
      throw new Error(`nginx does not answer: ${stderr}`)
    })
  return { url, cache }
}
