import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { ENTRY_POINTS } from '../entry-points.ts'
import type { Page } from './pages.ts'

interface Symbol {
  name: string
  declarations: {
    declarationKind: string
    jsDoc?: {
      doc?: string
      tags?: { kind: string; name?: string; doc?: string; tsType?: { repr: string } }[]
    }
  }[]
}

/** Returns a page for each entry point of the package, and their index. */
export function referencePages(root: string): Page[] {
  const declarations = join(root, 'build/declarations')
  rmSync(declarations, { recursive: true, force: true })
  for (const project of ['.', 'adapters', 'src/stores']) {
    const args = ['-p', join(root, project), '--outDir', declarations]
    execFileSync('tsc', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  }
  const files = ENTRY_POINTS.map(({ source }) => join(root, source))
  const options = ['doc', '--no-lock', '--quiet', '--json']
  const output = execFileSync('deno', [...options, ...files], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const { nodes }: { nodes: Record<string, { symbols: Symbol[] }> } = JSON.parse(output)
  const pages = ENTRY_POINTS.map(({ subpath, source }) => {
    const found = nodes[pathToFileURL(join(root, source)).href]?.symbols ?? []
    const symbols = found.filter(({ declarations: [first] }) => first?.declarationKind === 'export')
    const parts = symbols.map((symbol) => describe(symbol, join(declarations, source)))
    const name = join('ratesmith', subpath).replaceAll('\\', '/')
    return {
      path: `reference/${name.replace(/^ratesmith\//, '')}.md`,
      text: `# ${name}\n\nExports of \`${name}\`: ${symbols.length}.\n\n${parts.join('\n')}`,
      group: 'Reference',
    }
  })
  return [indexOf(pages), ...pages]
}

function indexOf(pages: readonly Page[]): Page {
  const rows = pages.map(({ path, text }) => {
    const link = `./${path.replace('reference/', '')}`
    const names = Array.from(text.matchAll(/^## (\w+)$/gm), ([, name = '']) => {
      return `[${name}](${link}#${name.toLowerCase()})`
    })
    return `| [${/^# (.*)$/m.exec(text)?.[1]}](${link}) | ${names.join(', ')} |\n`
  })
  const head =
    '# Reference\n\nEvery export of every entry point, generated from the declarations.\n\n'
  return {
    path: 'reference/index.md',
    text: `${head}| import | exports |\n| --- | --- |\n${rows.join('')}`,
    group: 'Reference',
  }
}

/** Returns the section of a symbol: what it does, its declaration, its exceptions and examples. */
function describe({ name, declarations: [first] }: Symbol, module: string): string {
  if (!first) return ''
  const { doc = '', tags = [] } = first.jsDoc ?? {}
  const linesOf = (kind: string, toLine: (tag: (typeof tags)[number]) => string): string[] =>
    tags.filter((tag) => tag.kind === kind).map(toLine)
  const parameters = linesOf('param', (tag) => `- \`${tag.name}\`: ${oneLine(tag.doc)}\n`)
  const throws = linesOf('throws', ({ tsType, doc: text }) => {
    return `- Throws ${tsType ? `\`${tsType.repr}\` ` : ''}${oneLine(text)}\n`
  })
  const examples = linesOf('example', ({ doc: text = '' }) => `${text.trim()}\n`)
  const declaration = exportedDeclaration(name, module)
  return [
    `## ${name}\n`,
    doc && `${escapeHtml(doc.trim())}\n`,
    `\`\`\`ts\n${declaration}\n\`\`\`\n`,
    [...parameters, ...throws].join(''),
    ...examples,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** Returns the declaration of what the module at `path` exports as `name`, which another module may declare. */
function exportedDeclaration(name: string, path: string): string {
  const file = path.replace(/\.ts$/, '.d.ts')
  const text = readFileSync(file, 'utf8')
  const lists = text.matchAll(/^(?:ex|im)port (?:type )?\{([^}]*)\} from '([^']*)'/gm)
  for (const [, names = '', from = ''] of lists) {
    for (const item of names.split(',')) {
      const [inner = '', outer = inner] = item
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      if (outer !== name) continue
      const declaration = exportedDeclaration(inner, join(dirname(file), from))
      return inner === name ? declaration : declaration.replace(inner, name)
    }
  }
  return declarationOf(name, text)
}

const oneLine = (text = ''): string => escapeHtml(text.trim().replaceAll(/\s+/g, ' '))

/** Text between back quotes is code, which the renderer escapes. */
function escapeHtml(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 0 ? part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;') : part,
    )
    .join('')
}

/** Returns the declarations of a name in the text of a declaration file, without their comments. */
function declarationOf(name: string, text: string): string {
  const start = new RegExp(
    String.raw`^(?:export )?(?:declare )?(?:abstract )?(?:function|interface|type|const|let|class|enum) ${name}\b`,
  )
  const lines = text.split('\n')
  const found = lines.flatMap((line, index) => {
    if (!start.test(line)) return []
    const rest = lines.slice(index)
    const end = rest.findIndex((each) => /^\S.*;$|^\};?$|^\S.*\{\}$/.test(each))
    return [rest.slice(0, end + 1).join('\n')]
  })
  if (found.length === 0) throw new Error(`no declaration of ${name} found`)
  return found
    .join('\n')
    .replaceAll(/^export (declare )?/gm, '')
    .replaceAll(/^ {4,}/gm, (indent) => ' '.repeat(indent.length / 2))
}
