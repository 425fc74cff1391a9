import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Whether tests that make a certificate are to be skipped: openssl is missing, and this is not CI, where they fail. */
export const OPENSSL_IS_MISSING: boolean =
  spawnSync('openssl', ['version']).status !== 0 && !process.env['CI']

/** Makes a key and a certificate by itself for `hosts` (`DNS:…` or `IP:…`), `<name>.key` and `<name>.crt` in `folder`. */
export function makeCertificate(folder: string, name: string, hosts: string[]) {
  const files = { key: join(folder, `${name}.key`), cert: join(folder, `${name}.crt`) }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${hosts.join(',')}`]
  const output = ['-keyout', files.key, '-out', files.cert]
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...output], { stdio: 'ignore' })
  return files
}
