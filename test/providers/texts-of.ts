import { inspect } from 'node:util'

/** How deep values are looked into. */
const DEEPEST = 12

/** Every text in `value`: of errors, their causes and all their properties, hidden or not. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  const texts: string[] = []
  const seen = new Set<unknown>()

  function walk(each: unknown, depth: number): void {
    if (typeof each === 'string') texts.push(each)
    if (typeof each !== 'object' || each === null || seen.has(each) || depth > DEEPEST) return
    seen.add(each)
    if (each instanceof Error) texts.push(each.name, each.message, String(each.stack))
    if (each instanceof Request) texts.push(each.url)
    if (each instanceof Request || each instanceof Response) walk(each.headers, depth)
    if (isIterable(each)) for (const item of each) walk(item, depth + 1)
    for (const name of Reflect.ownKeys(each)) {
      texts.push(String(name))
      walk(Reflect.get(each, name), depth + 1)
    }
  }

  walk(value, 0)
  texts.push(inspect(value, { depth: DEEPEST, showHidden: true }), String(JSON.stringify(value)))
  return texts
}

/** The places that hold a part of `secret`, which is hexadecimal, in either case, long enough not to be there by chance. */
export function findSecret(secret: string, places: Record<string, unknown>): string[] {
  const parts = Array.from({ length: secret.length - PART + 1 }, (_, at) =>
    secret.slice(at, at + PART),
  )
  return Object.entries(places)
    .filter(([, value]) => {
      const runs = textsOf(value).flatMap((text) => text.match(DIGITS) ?? [])
      const text = runs.join(' ').toLowerCase()
      return parts.some((part) => text.includes(part))
    })
    .map(([place]) => place)
}

/** One of four thousand million; an upstream's text may be cut where it is shown. */
const PART = 8
const DIGITS = /[\da-f]{8,}/gi

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value
}
