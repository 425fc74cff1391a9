import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

import { OPENSSL_IS_MISSING, makeCertificate } from './certificate.ts'
import { CLI, expectRefused, rootOf, serve } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { describeRuntimes, run, temporaryFolder } from './processes.ts'
import { openSocket, portIn } from './sockets.ts'

const folder = temporaryFolder(afterAll)

beforeAll(() => {
  if (OPENSSL_IS_MISSING) return
  for (const name of ['own', 'other']) makeCertificate(folder, name, ['IP:127.0.0.1'])
  writeFileSync(join(folder, 'junk.pem'), 'no PEM')
  const [key, own, other] = ['own.key', 'own.crt', 'other.crt'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  )
  writeFileSync(join(folder, 'all.pem'), `\uFEFFAbout these:\n${key}${own}${other}`)
  writeFileSync(join(folder, 'cut.pem'), `${own}${other?.slice(0, 200)}`)
  writeFileSync(join(folder, 'broken.pem'), `${own}${other?.replace(/[A-Za-z]{20}/, '????')}`)
})

/** Writes a config file with the key and the certificate in files of the folder. */
function https(files: { key?: string; cert?: string }): string {
  const texts = Object.entries(files).map(
    ([kind, name]) => `${kind}: readFileSync('${join(folder, name)}', 'utf8')`,
  )
  return writeConfig(`
    import { readFileSync } from 'node:fs'
    export default {}
    export const server = { tls: { ${texts.join()} } }
  `)
}

const CLIENT_HELLO = Buffer.from('16030100f8010000f40303', 'hex')

async function openTrusted(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ca: readFileSync(join(folder, 'own.crt')) })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

async function getTrusted(url: string): Promise<string> {
  const ca = readFileSync(join(folder, 'own.crt'))
  const [response] = await once(get(url, { ca }), 'response')
  return text(response)
}

describeRuntimes('ratesmith serve with HTTPS', (runtime) => {
  const [name, program, ...parameters] = runtime

  beforeEach(({ skip }) => skip(OPENSSL_IS_MISSING, 'openssl is not installed'))

  it.each([
    { key: 'own.key', cert: 'own.crt' },
    { key: 'all.pem', cert: 'all.pem' },
  ])('serves HTTPS, and prints URLs that work: %j', async (files) => {
    const running = serve([https(files), '--demo'], {}, runtime)
    await rootOf(running)
    await running.written(/v1\/status\n/)
    const urls = running.stdout.match(/https:\S+\/v1\/\S+/g) ?? []
    expect(urls).toHaveLength(4)
    for (const url of urls) expect(await getTrusted(url)).toContain('Synthetic')
    expect(await running.end()).toBe(0)
  })

  it('disconnects clients that stall in the handshake or in the request headers', async ({
    skip,
  }) => {
    skip(name === 'Deno', 'Deno.serve has no such limit: put a proxy in front')
    const running = serve([https({ key: 'own.key', cert: 'own.crt' }), '--demo'], {}, runtime)
    const port = portIn(await rootOf(running))
    const beginnings = [
      openSocket(port),
      openSocket(port).then((socket) => (socket.write(CLIENT_HELLO), socket)),
      openTrusted(port),
      openTrusted(port).then((socket) => (socket.write('GET /api/v1/status HTTP/1.1\r\n'), socket)),
    ]
    const sockets = await Promise.all(beginnings)
    const closed = sockets.map(async (socket) => {
      if (!socket.closed) await once(socket.resume(), 'close')
    })
    await Promise.all(closed)
    expect(await running.end()).toBe(0)
  })

  it.each([
    [{ key: 'own.key' }, ['server.tls.cert']],
    [{ cert: 'own.crt' }, ['server.tls.key']],
    [{ key: 'none.pem', cert: 'own.crt' }, ['ENOENT', 'none.pem']],
    [{ key: 'junk.pem', cert: 'own.crt' }, ['server.tls.key', 'private key', 'PEM']],
    [{ key: 'own.key', cert: 'junk.pem' }, ['server.tls.cert', 'certificate', 'PEM']],
    [{ key: 'own.key', cert: 'cut.pem' }, ['server.tls.cert', 'certificate', 'PEM']],
    [{ key: 'own.key', cert: 'broken.pem' }, ['server.tls.cert', 'certificate', 'PEM']],
    [{ key: 'other.key', cert: 'own.crt' }, ['server.tls.key', 'server.tls.cert']],
  ])('exits with 2 and one line for %j', async (files, facts) => {
    const args = [...parameters, CLI, 'serve', https(files), '--demo', '--port', '0']
    expectRefused(await run(program, args), 'config.ts', ...facts)
  })
})
