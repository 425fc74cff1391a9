export const REDACTED = 'REDACTED'

/** An API key of ratesmith, also with a mistake in it, or a quote, which is a JWS. */
const KEY = /rsk(?:_|%5f)[\w%.~-]*|(?<![\w-])eyJ[\w.-]{20,}/gi

/** Parameters for keys in the services that compat routes and others imitate. */
const KEY_PARAMETERS = 'access_key access_token api_key apikey app_id key token'.split(' ')

/** What may precede the name of a parameter, where parsers disagree or a header has more than an address. */
const BEFORE_NAME = /[\s?;#/,('"<{|]/

/** Returns a function that redacts API keys, quotes, and the values of parameters for keys, in a path, a query or a header. */
export function createRedaction(parameters: readonly string[]): (text: string) => string {
  const names = new Set([...KEY_PARAMETERS, ...parameters].map(toPlainName))

  const isListed = (name: string): boolean => names.has(toPlainName(name))

  /** Also of `app_id[]` and `keys[app_id]`. */
  function isKeyName(name: string): boolean {
    const decoded = decode(name)
    return isListed(decoded) || (decoded.includes('[') && decoded.split(/[[\]]/).some(isListed))
  }

  function endsInKeyName(text: string): boolean {
    const end = text.trimEnd().split(BEFORE_NAME).at(-1) ?? ''
    return isKeyName(end) || (end !== text && isKeyName(text))
  }

  function redactPlain(pair: string): string {
    const parts = pair.split('=')
    const found = parts.findIndex((part, index) => index < parts.length - 1 && endsInKeyName(part))
    const shown = found < 0 ? pair : [...parts.slice(0, found + 1), REDACTED].join('=')
    return shown.replace(KEY, REDACTED)
  }

  /** A key may be percent-encoded anywhere, as in an address in a value: then the whole pair is redacted. */
  function redactPair(pair: string): string {
    const shown = redactPlain(pair)
    const decoded = decode(shown)
    if (decoded === shown) return shown
    const isPlain = decoded.split('&').every((part) => redactPlain(part) === part)
    return isPlain ? shown : REDACTED
  }

  return (text) => (/[=%]|rsk_/i.test(text) ? text.split('&').map(redactPair).join('&') : text)
}

/** Clients write `API-Key` and `apiKey` for `api_key`. */
function toPlainName(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, '') || name
}

/** Decodes ASCII characters as a query parser does, also those that were encoded more than once. */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text
  return text
    .replaceAll('+', ' ')
    .replace(/%(?:25)*([0-7][\da-f])/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
}
