import { KEY_VARIABLES } from '../providers.ts'

/** Variables with URLs that may contain a password. */
const VARIABLES = [
  'RATESMITH_LATEST_URL',
  'RATESMITH_HISTORY_URL',
  'RATESMITH_REDIS_URL',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'https_proxy',
  'http_proxy',
]

/** Redacting shorter texts would make the output unreadable. */
const MIN_SECRET_LENGTH = 3

/**
 * Returns a function that redacts user names, passwords and keys in a text: those of every URL in it, and those of the
 * variables of `env` and of `urls` anywhere.
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

/** Returns the password of `url`, encoded and decoded. */
function credentialsOf(url: string): string[] {
  const [, written] = /^[^/]*\/\/[^:@/]*:(.*)@/.exec(url) ?? []
  return written === undefined ? [] : [written, decoded(written)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not percent-encoded.
    return text
  }
}
