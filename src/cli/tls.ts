import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { UsageError, told } from './usage-error.ts'

/** Key and certificate in PEM. */
export interface Tls {
  key: string
  cert: string
}

/**
 * Reads what HTTPS takes from `files`. The runtimes differ in what they refuse, and how: it is tried here for all of them.
 *
 * @throws {UsageError} naming the flag of the file that cannot be used
 */
export function readTls(files: Tls): Tls {
  const key = told('--https-key', () => readFileSync(files.key, 'utf8'))
  const cert = told('--https-cert', () => readFileSync(files.cert, 'utf8'))
  const privateKey = parsed('--https-key: no private key in PEM without a passphrase', () =>
    createPrivateKey(key),
  )
  const certificate = parsed('--https-cert: no certificate in PEM', () => new X509Certificate(cert))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new UsageError('--https-key: not the key of the certificate in --https-cert')
  }
  return { key, cert }
}

function parsed<Parsed>(refusal: string, parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(refusal, { cause: error })
  }
}
