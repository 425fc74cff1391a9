import type { HistoryDay } from './provider.ts'
import { addRate, parseRate, requireCode, requireDay, toPublishedDays } from './reference-days.ts'

const PROLOG = /^\s*(?:<\?xml\s[^<>]*\?>)?/

/** Groups: the name in a closing tag; or the name, the attributes and the final slash of an opening one. */
const TAG =
  /<(?:\/([\w:.-]+)\s*|([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?)>/y

const ATTRIBUTE = /\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gy

const ROOT = 'gesmes:Envelope'

const MAX_OPEN = 4

/** Elements with text, or each other, which are ignored. */
const HEADINGS: ReadonlySet<string> = new Set(['gesmes:subject', 'gesmes:Sender', 'gesmes:name'])

/**
 * Parses `eurofxref-daily.xml` and `eurofxref-hist-90d.xml`: the envelope contains a `Cube` with a `Cube time` for every
 * day, which contains an empty `Cube currency rate` for every currency. Attributes may be in any order and in single or
 * double quotes.
 *
 * Rejects all other XML: document types, entities, CDATA sections, comments and processing instructions.
 *
 * @throws {Error} if any element differs from this format
 */
export function readEcbXml(text: string): HistoryDay[] {
  const days: HistoryDay[] = []
  const open: string[] = []
  let at = PROLOG.exec(text)?.[0].length ?? 0
  do {
    const next = text.indexOf('<', at)
    if (next === -1) throw new Error('the XML is truncated')
    requireNoText(text.slice(at, next), open.at(-1) ?? ROOT)
    TAG.lastIndex = next
    const [tag, closed, opened = '', attributes = '', isEmpty] = TAG.exec(text) ?? []
    if (tag === undefined) throw new Error(`unsupported markup at character ${next + 1}`)
    at = next + tag.length
    if (closed !== undefined) {
      if (open.pop() !== closed) throw new Error('a closing tag has no opening tag')
    } else {
      readElement(open, opened, attributesOf(attributes), days)
      if (!isEmpty) open.push(opened)
    }
  } while (open.length > 0)
  if (text.slice(at).trim() !== '') throw new Error('text after the root element')
  const empty = days.find(({ rates }) => Object.keys(rates).length === 0)
  if (empty) throw new Error(`${empty.date} has no rates`)
  return toPublishedDays(days)
}

function readElement(
  open: readonly string[],
  name: string,
  attributes: ReadonlyMap<string, string>,
  days: HistoryDay[],
): void {
  const path = [...open, name].join(' ')
  if (open.length === MAX_OPEN) throw new Error(`elements nested more than ${MAX_OPEN} levels deep`)
  const cubes = path === `${ROOT}${' Cube'.repeat(open.length)}` ? open.length : undefined
  if (cubes === 0 || (HEADINGS.has(name) && open.every((each) => each !== 'Cube'))) return
  if (cubes === 1 && attributes.size === 0) return
  if (cubes === 2 && attributes.size === 1) {
    days.push({ date: requireDay(attributes.get('time') ?? '', 'day', days.length + 1), rates: {} })
    return
  }
  const rates = days.at(-1)?.rates
  if (cubes !== 3 || attributes.size !== 2 || !rates) {
    throw new Error('unexpected element; expected a Cube with time, or with currency and rate')
  }
  const code = requireCode(attributes.get('currency') ?? '', 'day', days.length)
  addRate(rates, code, parseRate(attributes.get('rate') ?? '', 'day', days.length))
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', doubly, singly = ''] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name)) throw new Error('duplicate attribute of an element')
    attributes.set(name, doubly ?? singly)
  }
  return attributes
}

function requireNoText(text: string, parent: string): void {
  const isGood = HEADINGS.has(parent) ? !text.includes('&') : text.trim() === ''
  if (!isGood) throw new Error(`unexpected text in ${parent}`)
}
