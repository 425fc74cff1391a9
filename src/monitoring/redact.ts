const REDACTED = 'REDACTED'

/** An API key of ratesmith, also with a mistake in it. */
const KEY = /rsk(?:_|%5f)[\w%.~-]*/gi

/** Parameters for keys in the services that compat routes and others imitate. */
const KEY_PARAMETERS = [
  'access_key',
  'access_token',
  'api_key',
  'apikey',
  'app_id',
  'key',
  'token',
] as const

export interface Redaction {
  /** `query` is raw, without the question mark. */
  query(query: string): string
  text(text: string): string
}

export function createRedaction(parameters: readonly string[]): Redaction {
  const names = new Set([...KEY_PARAMETERS, ...parameters].map((name) => name.toLowerCase()))

  function redactPair(pair: string): string {
    const end = pair.indexOf('=')
    if (end < 0) return redactKeys(pair)
    const name = decode(pair.slice(0, end)).toLowerCase()
    if (names.has(name)) return `${pair.slice(0, end)}=${REDACTED}`
    return redactKeys(pair)
  }

  function redactQuery(query: string): string {
    if (query === '') return ''
    return query
      .split(/([&;#?])/)
      .map(redactPair)
      .join('')
  }

  return {
    query: redactQuery,
    text(text) {
      const start = text.indexOf('?')
      if (start < 0) return redactKeys(text)
      return `${redactKeys(text.slice(0, start))}?${redactQuery(text.slice(start + 1))}`
    },
  }
}

/** A key may be percent-encoded anywhere: then all of the text is redacted. */
function redactKeys(text: string): string {
  const redacted = text.replace(KEY, REDACTED)
  return /rsk_/i.test(decode(redacted)) ? REDACTED : redacted
}

/** Decodes a name or value as a query parser does; text with an invalid escape stays encoded in part. */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-7][\da-f])/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
}
