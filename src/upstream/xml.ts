const PROLOG = /^\s*(?:<\?xml\s[^<>]*\?>)?/

/** Groups: the text before a tag; the name in a closing one; or the name, the attributes and the final slash of an opening one. */
const TAG =
  /([^<]*)<(?:\/([\w:.-]+)\s*|([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?)>/y

/** Like `TAG`; the sixth group is the inside of a whole element: a text, or elements with a name and a text only. */
const PART =
  /([^<]*)<(?:\/([\w:.-]+)\s*>|([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?:(\/)>|>(?:([^<]*|(?:\s*<([\w.-]+)>[^<]*<\/\7>){1,64}\s*)<\/\3\s*>)?))/y

const MAX_DEPTH = 12

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
  const next = createReader(text)
  for (let tag = next(TAG); tag; tag = next(TAG)) {
    const { name, kind, attributes, before } = tag
    yield { name, kind, attributes: attributesOf(attributes), before }
  }
}

/** A tag, or a whole element, which is `empty`. */
interface Part extends Omit<XmlTag, 'attributes'> {
  attributes: string
  inside: string
  hasElements: boolean
}

/** Returns a function that returns the next part by `TAG` or `PART`, undefined after the last: faster than a generator. */
function createReader(text: string): (pattern: RegExp) => Part | undefined {
  const open: string[] = []
  let at = PROLOG.exec(text)?.[0].length ?? 0
  let isEnded = false
  return (pattern) => {
    if (isEnded) return undefined
    pattern.lastIndex = at
    const found = pattern.exec(text)
    const before = found ? (found[1] ?? '') : textFrom(text, at)
    if (open.length === 0 && before.trim() !== '') throw new Error('text before the root element')
    if (!found) throw new Error(`unsupported markup at character ${at + before.length + 1}`)
    at = pattern.lastIndex
    const part = toPart(found, before)
    if (part.kind === 'closing') {
      if (open.pop() !== part.name) throw new Error('a closing tag has no opening tag')
    } else {
      if (open.length + (part.hasElements ? 1 : 0) >= MAX_DEPTH) {
        throw new Error(`elements nested more than ${MAX_DEPTH} levels deep`)
      }
      if (part.kind === 'opening') open.push(part.name)
    }
    isEnded = open.length === 0
    if (isEnded && text.slice(at).trim() !== '') throw new Error('text after the root element')
    return part
  }
}

function toPart(found: RegExpExecArray, before: string): Part {
  const closed = found[2]
  const inside = found[6]
  if (closed !== undefined) {
    const kind = 'closing'
    return { name: closed, kind, attributes: '', before, inside: '', hasElements: false }
  }
  return {
    name: found[3] ?? '',
    kind: found[5] === undefined && inside === undefined ? 'opening' : 'empty',
    attributes: found[4] ?? '',
    before,
    inside: inside ?? '',
    hasElements: found[7] !== undefined,
  }
}

function textFrom(text: string, at: number): string {
  const next = text.indexOf('<', at)
  if (next === -1) throw new Error('the XML is truncated')
  return text.slice(at, next)
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Reads attributes that a pattern matched: a second pattern would take half as long again. */
function attributesOf(text: string): ReadonlyMap<string, string> {
  if (text === '') return NONE
  const attributes = new Map<string, string>()
  let count = 0
  for (let at = 0; at < text.length;) {
    const equals = text.indexOf('=', at)
    const name = text.slice(at, equals).trim()
    let opening = equals + 1
    while (text[opening] !== '"' && text[opening] !== "'") opening += 1
    const closing = text.indexOf(text[opening] ?? '', opening + 1)
    attributes.set(name, text.slice(opening + 1, closing))
    count += 1
    if (attributes.size !== count) throw new Error('duplicate attribute of an element')
    at = closing + 1
  }
  return attributes
}

/** An element of a document; names have no prefix. */
export interface XmlElement {
  readonly attributes: ReadonlyMap<string, string>
  readonly parent: Pick<XmlElement, 'attributes' | 'parent'> | undefined
  /** Texts of the elements inside, by name; of several with the same name, the last. */
  readonly texts: XmlTexts
  /** Text directly inside, without white space around it. */
  readonly text: string
}

interface XmlTexts extends Iterable<[name: string, text: string]> {
  get(name: string): string | undefined
}

interface OpenElement extends XmlElement {
  text: string
  parent: OpenElement | undefined
  texts: Map<string, string>
  /** Whether the path leads to it or through it. */
  isOnPath: boolean
}

/**
 * Yields the elements at `path`, such as `ValCurs/Valute`, when they end.
 *
 * @throws {Error} as `readXmlTags` does, for an unknown entity, and if the root is another element
 */
export function* readXml(text: string, path: string): Generator<XmlElement> {
  const names = path.split('/')
  const next = createReader(text)
  let open: OpenElement | undefined
  let depth = 0
  for (;;) {
    const part = next(depth === names.length - 1 ? PART : TAG)
    if (!part) return
    const { kind, attributes, before, inside, hasElements } = part
    if (open && before !== '') open.text += before
    const name = part.name.slice(part.name.indexOf(':') + 1)
    if (kind === 'closing') {
      if (!open) continue
      open.text = decoded(open.text.trim())
      if (depth > names.length) open.parent?.texts.set(name, open.text)
      if (open.isOnPath && depth === names.length) yield open
      open = open.parent
      depth -= 1
      continue
    }
    const isOnPath: boolean = names[depth] === name && (!open || open.isOnPath)
    if (!open && !isOnPath) throw new Error(`expected ${names[0] ?? ''} as the root element`)
    if (kind === 'opening') {
      const own = attributesOf(attributes)
      open = { text: '', attributes: own, parent: open, texts: new Map(), isOnPath }
      depth += 1
      continue
    }
    const content = decoded(inside)
    const own = hasElements ? '' : content.trim()
    if (depth >= names.length) open?.texts.set(name, own)
    if (isOnPath && depth === names.length - 1) {
      yield new WholeElement(own, open, { attributes, elements: hasElements ? inside : '' })
    }
  }
}

/** An element that `PART` matched. Its attributes and the texts inside are read when one is needed: many are not. */
class WholeElement implements XmlElement {
  readonly text: string
  readonly parent: XmlElement | undefined
  readonly #sources: { attributes: string; elements: string }
  #attributes: ReadonlyMap<string, string> | undefined

  constructor(
    text: string,
    parent: XmlElement | undefined,
    sources: { attributes: string; elements: string },
  ) {
    this.text = text
    this.parent = parent
    this.#sources = sources
  }

  get attributes(): ReadonlyMap<string, string> {
    return (this.#attributes ??= attributesOf(this.#sources.attributes))
  }

  get texts(): XmlTexts {
    return new TextsIn(this.#sources.elements)
  }
}

/** Finds the texts in elements that `PART` matched when they are read: most are not. */
class TextsIn implements XmlTexts {
  readonly #elements: string

  constructor(elements: string) {
    this.#elements = elements
  }

  get(name: string): string | undefined {
    const at = this.#elements.lastIndexOf(`<${name}>`)
    if (at === -1) return undefined
    const start = at + name.length + 2
    return decoded(this.#elements.slice(start, this.#elements.indexOf('<', start)).trim())
  }

  *[Symbol.iterator](): Generator<[name: string, text: string]> {
    for (const [, name = '', text = ''] of this.#elements.matchAll(/<([\w.-]+)>([^<]*)<\//g)) {
      yield [name, decoded(text.trim())]
    }
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
