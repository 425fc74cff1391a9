import { inspect } from 'node:util'

const MAX_DEPTH = 12

/** Collects every string in `value`: also of errors, their causes and all properties, enumerable or not. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  const texts: string[] = []
  const seen = new Set<unknown>()

  function walk(each: unknown, depth: number): void {
    if (typeof each === 'string') texts.push(each)
    if (typeof each !== 'object' || each === null || seen.has(each) || depth > MAX_DEPTH) return
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
  texts.push(inspect(value, { depth: MAX_DEPTH, showHidden: true }), String(JSON.stringify(value)))
  return texts
}

/** Returns the places that contain a part of `secret` (hexadecimal, in either case) too long to occur by chance. */
export function findSecret(secret: string, places: Record<string, unknown>): string[] {
  const length = secret.length - PART + 1
  const parts = Array.from({ length }, (_, at) => secret.slice(at, at + PART))
  return Object.entries(places)
    .filter(([, value]) => {
      const runs = textsOf(value).flatMap(runsOf)
      const text = runs.join(' ').toLowerCase()
      return parts.some((part) => text.includes(part))
    })
    .map(([place]) => place)
}

/** One of 4 billion values. Not the whole secret, because messages may truncate upstream text. */
const PART = 8

const DIGITS: ReadonlySet<string> = new Set('0123456789abcdefABCDEF')

/** Returns the runs of digits at least as long as a part; inspects only every eighth character, because texts are long. */
function runsOf(text: string): string[] {
  const isDigit = (at: number): boolean => DIGITS.has(text.charAt(at))
  const runs: string[] = []
  for (let at = PART - 1; at < text.length; at += PART) {
    if (!isDigit(at)) continue
    let [start, end] = [at, at + 1]
    while (isDigit(start - 1)) start -= 1
    while (isDigit(end)) end += 1
    if (end - start >= PART) runs.push(text.slice(start, end))
  }
  return runs
}

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value
