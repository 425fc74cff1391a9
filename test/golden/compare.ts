import { createHash } from 'node:crypto'

/** The answer to a question; `absent` says why there is none. */
export type Recorded =
  | { id: string; absent: string }
  | {
      id: string
      status: number | string
      headers: [name: string, value: string][]
      body: string
      /** Of the whole body, if only its start is stored. */
      digest?: string
    }

/** A difference in one answer, with the lines that show it. */
interface Difference {
  /** What differs: equal for all answers that differ in the same way. */
  kind: string
  before: string
  after: string
}

/** All questions with one kind of difference. */
export interface Kind {
  kind: string
  found: { id: string; before: string; after: string }[]
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the differences between two trees by kind, the most frequent first, and the number of questions that differ. */
export function compare(
  before: readonly Recorded[],
  after: readonly Recorded[],
): { kinds: Kind[]; count: number } {
  const kinds = new Map<string, Kind>()
  const byId = new Map(before.map((each) => [each.id, each]))
  let count = 0
  for (const answer of after) {
    const differences = differencesOf(byId.get(answer.id), answer)
    if (differences.length > 0) count += 1
    for (const { kind, ...shown } of differences) {
      const known = kinds.get(kind) ?? { kind, found: [] }
      kinds.set(kind, known)
      known.found.push({ id: answer.id, ...shown })
    }
  }
  return {
    kinds: [...kinds.values()].toSorted((one, other) => other.found.length - one.found.length),
    count,
  }
}

function differencesOf(before: Recorded | undefined, after: Recorded): Difference[] {
  if (!before) return [{ kind: 'not asked before', before: '', after: '' }]
  if ('absent' in before || 'absent' in after) {
    const [was, is] = [before, after].map((each) => ('absent' in each ? each.absent : ''))
    if (was && is) return []
    return [
      {
        kind: is ? `absent now: ${is}` : `absent before: ${was}`,
        before: summaryOf(before),
        after: summaryOf(after),
      },
    ]
  }
  if (before.status !== after.status) {
    return [
      {
        kind: `status ${before.status} → ${after.status}${codes(before.body, after.body)}`,
        before: summaryOf(before),
        after: summaryOf(after),
      },
    ]
  }
  const bodies = bodyDifferences(before, after)
  // The tag and the length follow the body.
  const following = bodies.length > 0 ? ['etag', 'content-length'] : []
  return [...headerDifferences(before.headers, after.headers, following), ...bodies]
}

function summaryOf(answer: Recorded): string {
  return 'absent' in answer ? `absent: ${answer.absent}` : `${answer.status} ${answer.body}`
}

/** Returns the codes of two errors, where they differ or one has none. */
function codes(...bodies: readonly string[]): string {
  const [before, after] = bodies.map((body) => /"code":"?(\w+)/.exec(body)?.[1] ?? 'no code')
  return before === after ? '' : `, ${before} → ${after}`
}

function headerDifferences(
  before: [string, string][],
  after: [string, string][],
  ignored: readonly string[],
): Difference[] {
  const names = new Set([...before, ...after].map(([name]) => name))
  return [...names]
    .filter((name) => !ignored.includes(name))
    .flatMap((name) => {
      const [was, is] = [before, after].map((headers) =>
        headers
          .filter(([each]) => each === name)
          .map(([, value]) => value)
          .join(', '),
      )
      if (was === is) return []
      const change = was === '' ? 'added' : is === '' ? 'gone' : 'changed'
      return [
        { kind: `header ${name} ${change}`, before: `${name}: ${was}`, after: `${name}: ${is}` },
      ]
    })
}

interface Body {
  body: string
  digest?: string
}

function bodyDifferences(before: Body, after: Body): Difference[] {
  if (before.body === after.body && before.digest === after.digest) return []
  const [was, is] = [parse(before.body), parse(after.body)]
  const found = was === undefined || is === undefined ? [] : valueDifferences(was, is, '')
  if (found.length === 0) return [textDifference(before, after)]
  // One for each kind of place.
  return [...new Map(found.toReversed().map((each) => [each.kind, each])).values()].toReversed()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Compares two values of JSON; places that differ by an index, a code or a day are of one kind. */
function valueDifferences(before: unknown, after: unknown, path: string): Difference[] {
  if (Object.is(before, after)) return []
  const place = path.replaceAll(/\[\d+\]/g, '[]').replaceAll(CODE_OR_DAY, '*')
  const differ = (change: string, was: unknown, is: unknown): Difference[] => {
    const [one, other] = [was, is].map((value) => `${path}: ${JSON.stringify(value)}`)
    return [{ kind: `body ${place}: ${change}`, before: one ?? '', after: other ?? '' }]
  }
  const [was, is] = [before, after].map(typeOf)
  if (was !== is) return differ(`${was} → ${is}`, before, after)
  if (!isObject(before) || !isObject(after)) return differ(`another ${is}`, before, after)
  if (Array.isArray(before) && Array.isArray(after) && before.length !== after.length) {
    return differ('another length', before.length, after.length)
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const separator = path === '' ? '' : '.'
    const inside = Array.isArray(before) ? `${path}[${name}]` : path + separator + name
    return valueDifferences(Reflect.get(before, name), Reflect.get(after, name), inside)
  })
}

/** A part of a path. */
const CODE_OR_DAY = /(?<=\.|^)([A-Z]{3}|\d{4}-\d\d-\d\d)(?=\.|\[|$)/g

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Compares two texts by lines, such as CSV, or JSON in another order or with other digits of a number. */
function textDifference(before: Body, after: Body): Difference {
  const [was, is] = [before.body.split('\n'), after.body.split('\n')]
  const line = was.findIndex((each, index) => each !== is[index])
  const at = line === -1 ? was.length : line
  const kind =
    before.body === after.body ? 'body: differs after the stored part' : 'body: another text'
  const [one = '', other = ''] = [was[at], is[at]]
  let start = 0
  while (start < one.length && one[start] === other[start]) start += 1
  const show = (text: string): string =>
    `line ${at + 1}, column ${start + 1}: ${text.slice(Math.max(0, start - 60))}`
  return { kind, before: show(one), after: show(other) }
}
