import { KEY_VARIABLES } from '../providers.ts'

/** Variables that hold URLs, which may have a password in them. */
const VARIABLES = [
  'RATESMITH_LATEST_URL',
  'RATESMITH_HISTORY_URL',
  'RATESMITH_REDIS_URL',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'https_proxy',
  'http_proxy',
]

/** Shorter ones are no secret, and to take them out would garble what is told. */
const MIN_SECRET_LENGTH = 3

/**
 * A function that takes user names, passwords and keys out of a text: those of every URL in it, and those of the variables
 * of `env` and of `urls` wherever they stand.
 */
export function createRedaction(
  env: NodeJS.ProcessEnv,
  urls: readonly string[],
): (text: string) => string {
  const keys = Object.values(KEY_VARIABLES).map((name) => env[name] ?? '')
  const written = VARIABLES.flatMap((name) => [env[name] ?? '', ...(env[name] ?? '').split(',')])
  const secrets = [...[...written, ...urls].flatMap(credentialsOf), ...keys]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((one, other) => other.length - one.length)
  return (text) =>
    secrets
      .reduce((left, secret) => left.replaceAll(secret, '…'), text)
      .replace(/\/\/[^/\s]*@/g, '//…@')
}

/** The password as it is written and as it is meant. */
function credentialsOf(url: string): string[] {
  const [, written] = /^[^/]*\/\/[^:@/]*:(.*)@/.exec(url) ?? []
  return written === undefined ? [] : [written, decoded(written)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Then it is meant as it is written.
    return text
  }
}
