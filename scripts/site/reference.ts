import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { ENTRY_POINTS } from '../entry-points.ts'
import type { Page } from './pages.ts'

interface Declaration {
  jsDoc?: {
    doc?: string
    tags?: { kind: string; name?: string; doc?: string; tsType?: { repr: string } }[]
  }
}

interface Symbol {
  name: string
  declarations: Declaration[]
}

/** Returns a page for each entry point of the package, and their index. */
export function referencePages(root: string): Page[] {
  const declarations = join(root, 'build/declarations')
  rmSync(declarations, { recursive: true, force: true })
  for (const project of ['.', 'adapters', 'src/stores']) {
    const args = ['-p', join(root, project), '--outDir', declarations]
    execFileSync('tsc', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  }
  const pages = readModules(root).map(({ name, source, symbols }) => {
    const parts = symbols.map((symbol) => describe(symbol, join(declarations, source)))
    const text = `# ${name}\n\nExports of \`${name}\`: ${symbols.length}.\n\n${parts.join('\n')}`
    return {
      path: `reference/${name.replace(/^ratesmith\/?/, '') || 'ratesmith'}.md`,
      text,
      group: 'Reference',
    }
  })
  return [indexOf(pages), ...pages]
}

function indexOf(pages: readonly Page[]): Page {
  const rows = pages.map(({ path, text }) => {
    const names = Array.from(text.matchAll(/^## (\w+)$/gm), ([, name = '']) => {
      return `[${name}](./${relative('reference', path).replaceAll('\\', '/')}#${name.toLowerCase()})`
    })
    return `| [${/^# (.*)$/m.exec(text)?.[1]}](./${path.replace('reference/', '')}) | ${names.join(', ')} |\n`
  })
  const head =
    '# Reference\n\nEvery export of every entry point, generated from the declarations.\n\n'
  return {
    path: 'reference/index.md',
    text: `${head}| import | exports |\n| --- | --- |\n${rows.join('')}`,
    group: 'Reference',
  }
}

interface Module {
  /** The name of the import, such as `ratesmith/node`. */
  name: string
  /** Path of its source in the repository. */
  source: string
  symbols: Symbol[]
}

/** Returns the modules of the package with their exports. */
function readModules(root: string): Module[] {
  const folder = join(root, 'build/site-entries')
  const entries = ENTRY_POINTS.map(({ subpath, source }) => {
    const name = join('ratesmith', subpath).replaceAll('\\', '/')
    const entry = join(folder, `${name}.ts`)
    mkdirSync(dirname(entry), { recursive: true })
    const path = relative(dirname(entry), join(root, source)).replaceAll('\\', '/')
    writeFileSync(entry, `export * from "${path}"\n`)
    return { name, source, entry }
  })
  try {
    const args = ['doc', '--no-lock', '--quiet', '--json', ...entries.map(({ entry }) => entry)]
    const output = execFileSync('deno', args, { encoding: 'utf8', maxBuffer: 1 << 28 })
    const nodes: Record<string, { symbols: Symbol[] }> = JSON.parse(output).nodes
    const byPath = new Map(
      Object.entries(nodes).map(([url, { symbols }]) => [fileURLToPath(url), symbols]),
    )
    return entries.map(({ name, source, entry }) => {
      return { name, source, symbols: byPath.get(entry) ?? [] }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the section of a symbol: what it does, its declaration, its exceptions and examples. */
function describe({ name, declarations: [first] }: Symbol, module: string): string {
  if (!first) return ''
  const { doc = '', tags = [] } = first.jsDoc ?? {}
  const throws = tags
    .filter(({ kind }) => kind === 'throws')
    .map(
      ({ tsType, doc = '' }) => `- Throws ${tsType ? `\`${tsType.repr}\` ` : ''}${oneLine(doc)}\n`,
    )
  const parameters = tags
    .filter(({ kind }) => kind === 'param')
    .map(({ name, doc = '' }) => `- \`${name}\`: ${oneLine(doc)}\n`)
  const examples = tags
    .filter(({ kind }) => kind === 'example')
    .map(({ doc = '' }) => `${doc.trim()}\n`)
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

const oneLine = (text: string): string => escapeHtml(text.trim().replaceAll(/\s+/g, ' '))

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
