import type { HistoryDay } from './provider.ts'
import { addRate, parseRate, requireCode, requireDay, toPublishedDays } from './reference-days.ts'

const PROLOG = /^\s*(?:<\?xml\s[^<>]*\?>)?/

/** A tag: the name of what it closes, or the name of what it opens, its attributes, and whether it is empty. */
const TAG =
  /<(?:\/([\w:.-]+)\s*|([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?)>/y

/** Each begins where the one before it ends. */
const ATTRIBUTE = /\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gy

const ROOT = 'gesmes:Envelope'

/** The envelope and the cubes in it. */
const MAX_OPEN = 4

/** Elements that hold text, which nobody reads, or each other. */
const HEADINGS: ReadonlySet<string> = new Set(['gesmes:subject', 'gesmes:Sender', 'gesmes:name'])

/**
 * Reads `eurofxref-daily.xml` and `eurofxref-hist-90d.xml`: below the envelope a `Cube` with a `Cube time` for every day,
 * and in that an empty `Cube currency rate` for every currency. Attributes may come in any order and in either quotes.
 *
 * Whatever else XML has is refused: a document type, entities, sections, comments and instructions.
 *
 * @throws {Error} where it is anything else, if only in one element
 */
export function readEcbXml(text: string): HistoryDay[] {
  const days: HistoryDay[] = []
  const open: string[] = []
  let at = PROLOG.exec(text)?.[0].length ?? 0
  do {
    const next = text.indexOf('<', at)
    if (next === -1) throw new Error('the XML does not end')
    requireNoText(text.slice(at, next), open.at(-1) ?? ROOT)
    TAG.lastIndex = next
    const [tag, closed, opened = '', attributes = '', isEmpty] = TAG.exec(text) ?? []
    if (tag === undefined) throw new Error(`there is another tag at character ${next + 1}`)
    at = next + tag.length
    if (closed !== undefined) {
      if (open.pop() !== closed) throw new Error('an element is closed and not open')
    } else {
      readElement(open, opened, attributesOf(attributes), days)
      if (!isEmpty) open.push(opened)
    }
  } while (open.length > 0)
  if (text.slice(at).trim() !== '') throw new Error('there is more behind the XML')
  const empty = days.find(({ rates }) => Object.keys(rates).length === 0)
  if (empty) throw new Error(`${empty.date} has no rates`)
  return toPublishedDays(days)
}

/** Takes what an element says that stands in those that are `open`. */
function readElement(
  open: readonly string[],
  name: string,
  attributes: ReadonlyMap<string, string>,
  days: HistoryDay[],
): void {
  const path = [...open, name].join(' ')
  if (open.length === MAX_OPEN) throw new Error(`there is an element in ${MAX_OPEN} others`)
  const cubes = path === `${ROOT}${' Cube'.repeat(open.length)}` ? open.length : undefined
  if (cubes === 0 || (HEADINGS.has(name) && open.every((each) => each !== 'Cube'))) return
  if (cubes === 1 && attributes.size === 0) return
  if (cubes === 2 && attributes.size === 1) {
    days.push({ date: requireDay(attributes.get('time') ?? '', 'day', days.length + 1), rates: {} })
    return
  }
  const rates = days.at(-1)?.rates
  if (cubes !== 3 || attributes.size !== 2 || !rates) {
    throw new Error('there is an element that is not of the format')
  }
  const code = requireCode(attributes.get('currency') ?? '', 'day', days.length)
  addRate(rates, code, parseRate(attributes.get('rate') ?? '', 'day', days.length))
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', doubly, singly = ''] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name)) throw new Error('an element has an attribute twice')
    attributes.set(name, doubly ?? singly)
  }
  return attributes
}

/** Text stands in headings alone, and is none that would have to be resolved. */
function requireNoText(text: string, parent: string): void {
  const isGood = HEADINGS.has(parent) ? !text.includes('&') : text.trim() === ''
  if (!isGood) throw new Error(`there is text in ${parent}`)
}
