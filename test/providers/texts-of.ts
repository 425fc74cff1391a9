import { inspect } from 'node:util'

/** How deep values are looked into. */
const DEEPEST = 12

/** Every text that can be had from `value`: of errors, their causes and whatever hangs on them, hidden or not. */
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

/** Where a part of `secret` that is long enough to be no chance is in what `places` hold, in whatever case. */
export function findSecret(secret: string, places: Record<string, unknown>): string[] {
  const parts = Array.from({ length: secret.length - PART + 1 }, (_, at) =>
    secret.slice(at, at + PART).toLowerCase(),
  )
  return Object.entries(places)
    .filter(([, value]) => {
      const text = textsOf(value).join('\n').toLowerCase()
      return parts.some((part) => text.includes(part))
    })
    .map(([place]) => place)
}

/** One of four thousand million; an upstream's text may be cut where it is told. */
const PART = 8

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value
}
