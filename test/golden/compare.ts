/** The answer to a question; `absent` says why there is none. */
export type Recorded =
  | { id: string; absent: string }
  | { id: string; status: number | string; headers: [name: string, value: string][]; body: string }

/** All questions with one kind of difference. */
export interface Kind {
  kind: string
  found: { id: string; before: string; after: string }[]
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
    if (differences.size > 0) count += 1
    for (const [kind, texts] of differences) {
      const known = kinds.get(kind) ?? { kind, found: [] }
      kinds.set(kind, known)
      known.found.push({ id: answer.id, ...texts })
    }
  }
  const sorted = [...kinds.values()].toSorted((one, other) => other.found.length - one.found.length)
  return { kinds: sorted, count }
}

/** Differences of one answer by kind: one for all places that differ by an index, a code or a day. */
type Differences = Map<string, { before: string; after: string }>

function differencesOf(before: Recorded | undefined, after: Recorded): Differences {
  const differences: Differences = new Map()
  if (!before) return differences.set('not asked before', { before: '', after: '' })
  const texts = { before: summaryOf(before), after: summaryOf(after) }
  if ('absent' in before || 'absent' in after) {
    const [was, is] = [before, after].map((each) => ('absent' in each ? each.absent : ''))
    if (was && is) return differences
    return differences.set(is ? `absent now: ${is}` : `absent before: ${was}`, texts)
  }
  if (before.status !== after.status) {
    return differences.set(`status ${before.status} → ${after.status}`, texts)
  }
  const [old, today] = [placesOf(before), placesOf(after)]
  // The tag and the length follow the body.
  const following = before.body === after.body ? [] : ['header etag', 'header content-length']
  for (const place of new Set([...old.keys(), ...today.keys()])) {
    const [was, is] = [old.get(place), today.get(place)]
    if (was === is || following.includes(place)) continue
    if (place === AS_TEXT && [...differences.keys()].some((kind) => kind.startsWith('body')))
      continue
    const change = was === undefined ? 'added' : is === undefined ? 'gone' : 'changed'
    const kind = `${place.replaceAll(/\[\d+\]/g, '[]').replaceAll(CODE_OR_DAY, '*')} ${change}`
    if (differences.has(kind)) continue
    differences.set(kind, { before: `${place}: ${was}`, after: `${place}: ${is}` })
  }
  return differences
}

/** A part of a path. */
const CODE_OR_DAY = /(?<=[. ])([A-Z]{3}|\d{4}-\d\d-\d\d)(?=\.|\[|$)/g

function summaryOf(answer: Recorded): string {
  return 'absent' in answer ? `absent: ${answer.absent}` : `${answer.status} ${answer.body}`
}

/** The order of names and the spelling of numbers, if nothing else of a body differs. */
const AS_TEXT = 'body as text'

/** Returns the text of every header, and of every value of JSON or line of another body, by its place. */
function placesOf({ headers, body }: Exclude<Recorded, { absent: string }>): Map<string, string> {
  const places = new Map<string, string>()
  for (const [name, value] of headers) {
    const place = `header ${name}`
    places.set(place, [...(places.has(place) ? [places.get(place)] : []), value].join(', '))
  }
  const collect = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      places.set(`body ${path}`, JSON.stringify(value))
      return
    }
    const inside = (name: string): string => {
      if (Array.isArray(value)) return `${path}[${name}]`
      return path === '' ? name : `${path}.${name}`
    }
    for (const [name, each] of Object.entries(value)) collect(each, inside(name))
  }
  try {
    collect(JSON.parse(body), '')
    places.set(AS_TEXT, body)
  } catch {
    for (const [index, line] of body.split('\n').entries()) places.set(`line [${index}]`, line)
  }
  return places
}
