import { X509Certificate, createPrivateKey } from 'node:crypto'

import type { ServerOptions } from '../index.ts'
import { assertKnownOptions } from '../known-options.ts'

type Tls = NonNullable<ServerOptions['tls']>

interface PemKind {
  name: string
  begin: RegExp
  block: RegExp
}

const PRIVATE_KEY: PemKind = {
  name: 'PEM private key without a passphrase',
  begin: /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  block: /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]*-----END \1-----/g,
}

const CERTIFICATE: PemKind = {
  name: 'PEM certificate',
  begin: /-----BEGIN CERTIFICATE-----/,
  block: /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g,
}

/**
 * Checks key and certificates, because the runtimes reject different texts with different errors.
 *
 * @throws {TypeError} that names the invalid one
 */
export function checkTls(tls: Tls): Tls {
  assertKnownOptions(tls, { key: true, cert: true }, 'server.tls')
  const [key = ''] = blocksOf('key', tls, PRIVATE_KEY)
  const chain = blocksOf('cert', tls, CERTIFICATE)
  const privateKey = parsed('key', PRIVATE_KEY, () => createPrivateKey(key))
  const [certificate] = chain.map((block) =>
    parsed('cert', CERTIFICATE, () => new X509Certificate(block)),
  )
  if (!certificate?.checkPrivateKey(privateKey)) {
    throw new TypeError('server.tls.key must match the certificate in server.tls.cert')
  }
  return { key, cert: chain.join('\n') }
}

/** Returns only the PEM blocks of one kind, because the runtimes skip different kinds of other text. */
function blocksOf(name: keyof Tls, { [name]: text }: Tls, kind: PemKind): string[] {
  return parsed(name, kind, () => {
    const begins = text.split(kind.begin).length - 1
    const blocks = text.match(kind.block) ?? []
    if (blocks.length === 0 || blocks.length < begins) throw new Error('incomplete PEM block')
    return blocks
  })
}

function parsed<Parsed>(option: keyof Tls, { name }: PemKind, parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    throw new TypeError(`server.tls.${option} must be the text of a ${name}`, { cause: error })
  }
}
