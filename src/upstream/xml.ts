const PROLOG = /^\s*(?:<\?xml\s[^<>]*\?>)?/

/** Groups: the name in a closing tag; or the name, the attributes and the final slash of an opening one. */
const TAG =
  /<(?:\/([\w:.-]+)\s*|([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?)>/y

const ATTRIBUTE = /\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gy

const MAX_DEPTH = 12

/** A tag, and the text between it and the tag before. */
export interface XmlTag {
  name: string
  kind: 'opening' | 'closing' | 'empty'
  attributes: ReadonlyMap<string, string>
  /** Text before the tag, with its entities. */
  before: string
}

/**
 * Yields the tags of an XML document. Rejects document types, and so pages of HTML and entity bombs, CDATA sections, comments
 * and processing instructions. A byte order mark and white space may come first.
 *
 * @throws {Error} if the document is truncated or not well-formed, has other markup, or is nested more than 12 levels deep
 */
export function* readXmlTags(text: string): Generator<XmlTag> {
  const open: string[] = []
  let at = PROLOG.exec(text)?.[0].length ?? 0
  do {
    const next = text.indexOf('<', at)
    if (next === -1) throw new Error('the XML is truncated')
    const before = text.slice(at, next)
    if (open.length === 0 && before.trim() !== '') throw new Error('text before the root element')
    TAG.lastIndex = next
    const [tag, closed, opened = '', attributes = '', isEmpty] = TAG.exec(text) ?? []
    if (tag === undefined) throw new Error(`unsupported markup at character ${next + 1}`)
    at = next + tag.length
    if (closed !== undefined) {
      if (open.pop() !== closed) throw new Error('a closing tag has no opening tag')
      yield { name: closed, kind: 'closing', attributes: NO_ATTRIBUTES, before }
    } else {
      const kind = isEmpty ? 'empty' : 'opening'
      if (open.length === MAX_DEPTH) {
        throw new Error(`elements nested more than ${MAX_DEPTH} levels deep`)
      }
      yield { name: opened, kind, attributes: attributesOf(attributes), before }
      if (!isEmpty) open.push(opened)
    }
  } while (open.length > 0)
  if (text.slice(at).trim() !== '') throw new Error('text after the root element')
}

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

function attributesOf(text: string): ReadonlyMap<string, string> {
  if (text === '') return NO_ATTRIBUTES
  const attributes = new Map<string, string>()
  for (const [, name = '', doubly, singly = ''] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name)) throw new Error('duplicate attribute of an element')
    attributes.set(name, doubly ?? singly)
  }
  return attributes
}

/** An element of a document; names have no prefix. */
export interface XmlElement {
  readonly attributes: ReadonlyMap<string, string>
  readonly parent: XmlElement | undefined
  /** Texts of the elements inside, by name; of several with the same name, the last. */
  readonly texts: ReadonlyMap<string, string>
  /** Text directly inside, without white space around it. */
  readonly text: string
}

interface OpenElement extends XmlElement {
  path: string
  text: string
  parent: OpenElement | undefined
  texts: Map<string, string>
}

/**
 * Yields the elements at `path`, such as `ValCurs/Valute`, when they end.
 *
 * @throws {Error} as `readXmlTags` does, for an unknown entity, and if the root is another element
 */
export function* readXml(text: string, path: string): Generator<XmlElement> {
  const [root] = path.split('/')
  let open: OpenElement | undefined
  for (const { name: full, kind, attributes, before } of readXmlTags(text)) {
    const name = full.slice(full.indexOf(':') + 1)
    if (open) open.text += before
    if (kind !== 'closing') {
      if (!open && name !== root) throw new Error(`expected ${root ?? ''} as the root element`)
      const opened = open ? `${open.path}/${name}` : name
      open = { path: opened, text: '', attributes, parent: open, texts: new Map() }
    }
    if (kind === 'opening' || !open) continue
    open.text = decoded(open.text.trim())
    open.parent?.texts.set(name, open.text)
    if (open.path === path) yield open
    open = open.parent
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+))?;?/gi,
    (all, number, hex, name) => {
      const isWhole = all.endsWith(';')
      const code = number === undefined ? parseInt(hex ?? '', 16) : Number(number)
      if (isWhole && code <= 0x10ffff) return String.fromCodePoint(code)
      const known = isWhole && Object.hasOwn(ENTITIES, name ?? '') ? ENTITIES[name] : undefined
      if (known === undefined) throw new Error('unknown entity')
      return known
    },
  )
}
