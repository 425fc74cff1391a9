import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { UsageError, withUsageError } from './usage.ts'

/** Key and certificate in PEM. */
export interface Tls {
  key: string
  cert: string
}

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
 * Reads and checks key and certificate, because the runtimes reject different files with different errors.
 *
 * @throws {UsageError} naming the flag of the invalid file
 */
export function readTls(files: Tls): Tls {
  const [key = ''] = readBlocks('--https-key', files.key, PRIVATE_KEY)
  const chain = readBlocks('--https-cert', files.cert, CERTIFICATE)
  const privateKey = parsed('--https-key', PRIVATE_KEY, () => createPrivateKey(key))
  const [certificate] = chain.map((block) =>
    parsed('--https-cert', CERTIFICATE, () => new X509Certificate(block)),
  )
  if (!certificate?.checkPrivateKey(privateKey)) {
    throw new UsageError('--https-key must match the certificate in --https-cert')
  }
  return { key, cert: chain.join('\n') }
}

/** Returns only the PEM blocks of one kind, because the runtimes skip different kinds of other text. */
function readBlocks(flag: string, file: string, kind: PemKind): string[] {
  const text = withUsageError(flag, () => readFileSync(file, 'utf8'))
  const begins = text.split(kind.begin).length - 1
  return parsed(flag, kind, () => {
    const blocks = text.match(kind.block) ?? []
    if (blocks.length === 0 || blocks.length < begins) throw new Error('incomplete PEM block')
    return blocks
  })
}

function parsed<Parsed>(flag: string, { name }: PemKind, parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(`${flag} must be a ${name}`, { cause: error })
  }
}
