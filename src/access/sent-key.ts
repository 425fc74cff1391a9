import type { RawRequest } from '../index.ts'
import { isKey } from './keys.ts'

/** The key that a request sends: empty if it cannot be a key, undefined without one, false for several different ones. */
type SentKey = string | false | undefined

type Headers = Pick<RawRequest, 'header'>

/** Returns the key that a request sends; `query` is raw, without the question mark. */
export type KeyReader = (request: Headers, query: string) => SentKey

const MAX_LENGTH = 256

export function createKeyReader(queryParameters: readonly string[]): KeyReader {
  return (request, query) => {
    const bearer = bearerIn(request.header('authorization'))
    const sent = merge(bearer, textOf(request.header('x-api-key')))
    if (queryParameters.length === 0 || query === '') return sent
    return merge(sent, keyInQuery(query, queryParameters))
  }
}

/** Returns whether a request without a key has one in a header that is not read: with its checksum, it is one of ours. */
export function hasMisplacedKey(request: Headers): boolean {
  return hasKey(request.header('authorization')) || hasKey(request.header('apikey'))
}

function hasKey(value: unknown): boolean {
  if (typeof value !== 'string') return false
  const [key] = /rsk_[0-9A-Za-z]{36}/.exec(value) ?? []
  return key !== undefined && isKey(key)
}

function merge(one: SentKey, other: SentKey): SentKey {
  if (one === undefined) return other
  return other === undefined || other === one ? one : false
}

/** Returns the token of the scheme `Bearer`; undefined for other schemes, which a proxy may have added. */
function bearerIn(value: unknown): SentKey {
  if (typeof value !== 'string') return textOf(value)
  const [scheme] = /^[ \t]*bearer(?=[ \t]|$)/i.exec(value) ?? []
  return scheme === undefined ? undefined : textOf(value.slice(scheme.length))
}

/** Returns a value; empty if it is too long, or is not a string, as adapters promise. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value.trim() : ''
}

function keyInQuery(query: string, names: readonly string[]): SentKey {
  // Without the `&`, a leading question mark would be dropped.
  const parameters = new URLSearchParams(`&${query}`)
  const values = names.flatMap((name) => parameters.getAll(name))
  return values.length > 1 ? false : textOf(values[0])
}
