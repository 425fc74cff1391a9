import { X509Certificate, createPrivateKey } from 'node:crypto'

import type { ServerOptions } from '../index.ts'
import { assertKnownOptions } from '../known-options.ts'

type Tls = NonNullable<ServerOptions['tls']>

const PRIVATE_KEY = {
  name: 'PEM private key without a passphrase',
  label: '[A-Z ]*PRIVATE KEY',
  parse: createPrivateKey,
}

const CERTIFICATE = {
  name: 'PEM certificate',
  label: 'CERTIFICATE',
  parse: (block: string) => new X509Certificate(block),
}

/**
 * Checks key and certificates, because the runtimes reject different texts with different errors.
 *
 * @throws {TypeError} that names the invalid one
 */
export function checkTls(tls: Tls | undefined): Tls | undefined {
  if (tls === undefined) return undefined
  assertKnownOptions(tls, { key: true, cert: true }, 'server.tls')
  const [key] = blocksOf('key', tls, PRIVATE_KEY)
  const chain = blocksOf('cert', tls, CERTIFICATE)
  if (!key || !chain[0]?.parsed.checkPrivateKey(key.parsed)) {
    throw new TypeError('server.tls.key must match the certificate in server.tls.cert')
  }
  return { key: key.block, cert: chain.map(({ block }) => block).join('\n') }
}

/** Returns only the PEM blocks of one kind, because the runtimes skip different kinds of other text. */
function blocksOf<Parsed>(
  option: keyof Tls,
  { [option]: text }: Tls,
  { name, label, parse }: { name: string; label: string; parse: (block: string) => Parsed },
): { block: string; parsed: Parsed }[] {
  try {
    const begins = text.match(new RegExp(`-----BEGIN ${label}-----`, 'g')) ?? []
    const blocks =
      text.match(new RegExp(`-----BEGIN (${label})-----[^-]*-----END \\1-----`, 'g')) ?? []
    if (blocks.length === 0 || blocks.length < begins.length) throw new Error('incomplete block')
    return blocks.map((block) => ({ block, parsed: parse(block) }))
  } catch (error) {
    throw new TypeError(`server.tls.${option} must be the text of a ${name}`, { cause: error })
  }
}
