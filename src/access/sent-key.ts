import type { RawRequest } from '../index.ts'
import { isKey } from './keys.ts'

/** The key that a request sends: empty if it cannot be a key, undefined without one, or why it is not read. */
export type SentKey = string | UnreadKey | undefined

interface UnreadKey {
  readonly problem: 'several_keys' | 'misplaced_key'
}

type Headers = Pick<RawRequest, 'header'>

/** Returns the key that a request sends; `query` is raw, without the question mark. */
export type KeyReader = (request: Headers, query: string) => SentKey

const SEVERAL: UnreadKey = { problem: 'several_keys' }
const MISPLACED: UnreadKey = { problem: 'misplaced_key' }

const MAX_LENGTH = 256

export function createKeyReader(queryParameters: readonly string[]): KeyReader {
  return (request, query) => {
    const authorization = request.header('authorization')
    const inHeaders = merge(bearerIn(authorization), textOf(request.header('x-api-key')))
    const key =
      queryParameters.length === 0 ? inHeaders : merge(inHeaders, keyIn(query, queryParameters))
    if (key !== undefined) return key
    // With its checksum, a key in a header that is not read is one of ours.
    return hasKey(authorization) || hasKey(request.header('apikey')) ? MISPLACED : undefined
  }
}

function hasKey(value: unknown): boolean {
  if (typeof value !== 'string') return false
  const [key] = /rsk_[0-9A-Za-z]{36}/.exec(value) ?? []
  return key !== undefined && isKey(key)
}

function merge(one: SentKey, other: SentKey): SentKey {
  if (one === undefined) return other
  return other === undefined || other === one ? one : SEVERAL
}

/** Returns the token of the scheme `Bearer`; undefined for other schemes, which a proxy may have added. */
function bearerIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return textOf(value)
  // The usual form, faster than by the pattern.
  if (value.startsWith('Bearer ')) return textOf(value.slice(7))
  const [scheme] = /^[ \t]*bearer(?=[ \t]|$)/i.exec(value) ?? []
  return scheme === undefined ? undefined : textOf(value.slice(scheme.length))
}

/** Returns a value; empty if it is too long, or is not a string, as adapters promise. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value.trim() : ''
}

function keyIn(query: string, names: readonly string[]): SentKey {
  if (query === '') return undefined
  // Without the `&`, a leading question mark would be dropped.
  const parameters = new URLSearchParams(`&${query}`)
  const values = names.flatMap((name) => parameters.getAll(name))
  return values.length > 1 ? SEVERAL : textOf(values[0])
}
