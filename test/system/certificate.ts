import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Whether to skip tests that make a certificate: openssl is missing. On CI they fail instead. */
export const OPENSSL_IS_MISSING: boolean =
  spawnSync('openssl', ['version']).status !== 0 && !process.env['CI']

/**
 * Creates a key and a self-signed certificate for `hosts` (`DNS:…` or `IP:…`): `<name>.key` and `<name>.crt` in
 * `folder`.
 */
export function makeCertificate(folder: string, name: string, hosts: string[]) {
  const files = { key: join(folder, `${name}.key`), cert: join(folder, `${name}.crt`) }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${hosts.join(',')}`]
  const output = ['-keyout', files.key, '-out', files.cert]
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...output], { stdio: 'ignore' })
  return files
}
