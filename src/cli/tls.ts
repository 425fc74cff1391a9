import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { UsageError, orUsageError } from './usage-error.ts'

/** Key and certificate in PEM. */
export interface Tls {
  key: string
  cert: string
}

/** What a block of PEM may hold. */
interface Kind {
  name: string
  begin: RegExp
  block: RegExp
}

const PRIVATE_KEY: Kind = {
  name: 'private key in PEM without a passphrase',
  begin: /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  block: /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]*-----END \1-----/g,
}

const CERTIFICATE: Kind = {
  name: 'certificate in PEM',
  begin: /-----BEGIN CERTIFICATE-----/,
  block: /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g,
}

/**
 * Reads what HTTPS takes from `files`. The runtimes differ in what they refuse, and how: it is tried here for all of them.
 *
 * @throws {UsageError} naming the flag of the file that cannot be used
 */
export function readTls(files: Tls): Tls {
  const [key = ''] = readBlocks('--https-key', files.key, PRIVATE_KEY)
  const chain = readBlocks('--https-cert', files.cert, CERTIFICATE)
  const privateKey = parsed('--https-key', PRIVATE_KEY, () => createPrivateKey(key))
  const [certificate] = chain.map((block) =>
    parsed('--https-cert', CERTIFICATE, () => new X509Certificate(block)),
  )
  if (!certificate?.checkPrivateKey(privateKey)) {
    throw new UsageError('--https-key: not the key of the certificate in --https-cert')
  }
  return { key, cert: chain.join('\n') }
}

/** The blocks of PEM in `file` of one kind, whatever stands beside them: the runtimes differ in what they pass over. */
function readBlocks(flag: string, file: string, kind: Kind): string[] {
  const text = orUsageError(flag, () => readFileSync(file, 'utf8'))
  const begins = text.split(kind.begin).length - 1
  return parsed(flag, kind, () => {
    const blocks = text.match(kind.block) ?? []
    if (blocks.length === 0 || blocks.length < begins) throw new Error('a block has no end')
    return blocks
  })
}

function parsed<Parsed>(flag: string, { name }: Kind, parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(`${flag}: no ${name}`, { cause: error })
  }
}
