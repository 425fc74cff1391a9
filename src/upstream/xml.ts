import { XmlElement as Node, XmlError, XmlText, parseXml } from '@rgrove/parse-xml'

const MAX_DEPTH = 12

/** A currency since 1999 has 28,000. The million that fits into 4 MiB would take half a gigabyte of memory. */
const MAX_ELEMENTS = 100_000

const [LESS, GREATER, QUOTE, APOSTROPHE, SLASH, BANG, QUESTION] = [60, 62, 34, 39, 47, 33, 63]

interface XmlTexts {
  get(name: string): string | undefined
}

/** An element of a document. */
export interface XmlElement {
  /** Name with its prefix. */
  readonly name: string
  readonly attributes: XmlTexts
  readonly attributeCount: number
  readonly parent: XmlElement | undefined
  /** Elements directly inside. */
  readonly elements: readonly XmlElement[]
  /** Texts of the elements inside, by name; of several with the same name, the last. */
  readonly texts: XmlTexts
  /** Text directly inside, without white space around it. */
  readonly text: string
}

/**
 * Returns the elements at `path`, such as `ValCurs/Valute`.
 *
 * @throws {Error} as `readXmlRoot` does, and if the root is another element
 */
export function readXml(text: string, path: string): XmlElement[] {
  const [first = '', ...names] = path.split('/')
  const root = readXmlRoot(text)
  if (localName(root.name) !== first) throw new Error(`expected ${first} as the root element`)
  return names.reduce(
    (outer, name) =>
      outer.flatMap(({ elements }) => elements.filter((each) => localName(each.name) === name)),
    [root],
  )
}

/**
 * Parses an XML document. Rejects document types, and so pages of HTML and entity bombs, CDATA sections, comments and
 * processing instructions. A byte order mark and white space may come first.
 *
 * @throws {Error} if the document is truncated or not well-formed, has other markup, is nested more than 12 levels deep or has
 *   more than 100,000 elements; the message does not quote the document
 */
export function readXmlRoot(text: string): XmlElement {
  // Each carriage return inside would cost the parser a copy of the text.
  const document = text.trim().replaceAll(/\r\n?/g, '\n')
  requirePlain(document)
  try {
    const { root } = parseXml(document)
    if (root) return new Element(root, undefined)
  } catch (error) {
    // Its message quotes the document.
    if (!(error instanceof XmlError)) throw error
    const message = `malformed or truncated XML at character ${error.pos + 1}`
    throw new Error(message, { cause: error })
  }
  throw new Error('no root element')
}

/** The parser calls itself for every level. The limits hold for each well-formed start of a document; it reads no further. */
function requirePlain(text: string): void {
  let depth = 0
  let count = 0
  // The declaration.
  const start = /^<\?xml\s/.test(text) ? 1 : 0
  for (let at = text.indexOf('<', start); at !== -1; at = text.indexOf('<', at + 1)) {
    const next = text.charCodeAt(at + 1)
    if (next === BANG || next === QUESTION) {
      throw new Error(`unsupported markup at character ${at + 1}`)
    }
    if (next === SLASH) {
      depth -= 1
      continue
    }
    count += 1
    if (count > MAX_ELEMENTS) throw new Error(`more than ${MAX_ELEMENTS} elements`)
    if (depth === MAX_DEPTH) throw new Error(`elements nested more than ${MAX_DEPTH} levels deep`)
    if (!isEmptyTag(text, at)) depth += 1
  }
}

/** Reads up to the end of a tag or the next one, because no attribute may have a `<`: each character once. */
function isEmptyTag(text: string, start: number): boolean {
  let quote = 0
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === LESS) return false
    if (quote !== 0) {
      if (code === quote) quote = 0
    } else if (code === QUOTE || code === APOSTROPHE) quote = code
    else if (code === GREATER) return text.charCodeAt(at - 1) === SLASH
  }
  return false
}

/** Finds what it has when it is read: most is not. */
class Element implements XmlElement {
  readonly name: string
  readonly parent: XmlElement | undefined
  readonly #node: Node

  constructor(node: Node, parent: XmlElement | undefined) {
    this.#node = node
    this.name = node.name
    this.parent = parent
  }

  get attributes(): XmlTexts {
    // Without a prototype.
    const { attributes } = this.#node
    return { get: (name) => attributes[name] }
  }

  get attributeCount(): number {
    return Object.keys(this.#node.attributes).length
  }

  get elements(): XmlElement[] {
    return this.#node.children.flatMap((child) =>
      child instanceof Node ? [new Element(child, this)] : [],
    )
  }

  get texts(): XmlTexts {
    return new Map(this.elements.map(({ name, text }) => [localName(name), text]))
  }

  get text(): string {
    let text = ''
    for (const child of this.#node.children) if (child instanceof XmlText) text += child.text
    return text.trim()
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
