import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { run } from '../../system/processes.ts'
import { ROOT } from '../../system/root.ts'
import type { Block, Page } from './page.ts'
import { nameOf } from './site.ts'
import type { Site } from './site.ts'

/** Those that the handler is mounted into. */
const FRAMEWORKS = ['elysia', 'express', 'fastify', 'h3', 'hono', 'koa']

const TSC = join(ROOT, 'node_modules/.bin/tsc')

/** What comes before the line of a framework in the table of them; those that are not here have a file for it alone. */
const APPS: Record<string, string> = {
  'Express 4, 5': `import express from 'express'
    import { toExpressHandler } from 'ratesmith/express'
    const app = express()`,
  Hono: `import { Hono } from 'hono'
    const app = new Hono()`,
  'H3 v2': `import { H3 } from 'h3'
    const app = new H3()`,
  Elysia: `import { Elysia } from 'elysia'
    const app = new Elysia()`,
  'Fastify 5': `import fastify from 'fastify'
    import { toExpressHandler } from 'ratesmith/express'
    declare const rates: ReturnType<typeof toExpressHandler>
    const app = fastify()`,
}

/** What the compiler says of the `ts` blocks of pages, each a file of its own in a folder of its page. */
export async function faultsOfBlocks(pages: readonly Page[], site: Site): Promise<string> {
  const blocks = pages.flatMap((page) => page.blocks.filter(({ language }) => language === 'ts'))
  const files = blocks.map((block) => {
    const folder = join('pages', block.page.replace('.md', ''))
    mkdirSync(join(site.folder, folder), { recursive: true })
    const file = join(folder, nameOf(block))
    writeFileSync(join(site.folder, file), block.text)
    return { file, isMounted: usesFramework(block) }
  })
  const [mounted = [], own = []] = [true, false].map((isMounted) =>
    files.filter((each) => each.isMounted === isMounted).map(({ file }) => file),
  )
  const faults = await compile(site, own, { skipLibCheck: false })
  // The declarations of frameworks are not ours to check.
  return faults + (await compile(site, mounted, { skipLibCheck: true }))
}

function usesFramework({ text }: Block): boolean {
  return FRAMEWORKS.some((name) => text.includes(`from '${name}'`))
}

/** The rows of a page's table of frameworks: each with its name and its line. */
export function frameworksOf({ text }: Page): { name: string; line: string }[] {
  const [table = ''] = /^\| framework .*?\n\n/ms.exec(text) ?? []
  const rows = table.matchAll(/^\| ([A-Z].*?) +\| .*? \| `(.*?)`/gm)
  return [...rows].map(([, name = '', line = '']) => ({ name, line }))
}

/** What the compiler says of the lines of that table. */
export function faultsOfFrameworks(page: Page, site: Site): Promise<string> {
  const names = frameworksOf(page).map(({ name, line }, index) => {
    const before = [
      APPS[name] ?? '',
      "import { createRatesHandler } from 'ratesmith'",
      'const handler = createRatesHandler()',
    ]
    const file = `framework-${index}.mts`
    writeFileSync(join(site.folder, file), [...before, line, 'export {}'].join('\n'))
    return file
  })
  return compile(site, names, { skipLibCheck: true })
}

/** What the compiler says of files of a site, with everything strict that can be. */
async function compile(site: Site, files: string[], options: object): Promise<string> {
  if (files.length === 0) return ''
  const { folder } = site
  const types = join(folder, 'node_modules/@types')
  // What is said of the runtime and of frameworks, by others.
  if (!existsSync(types)) symlinkSync(join(ROOT, 'node_modules/@types'), types)
  copyFileSync(
    join(ROOT, 'test/system/cloudflare-workers.d.ts'),
    join(folder, 'cloudflare-workers.d.ts'),
  )
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    // As the runtimes want them, with the endings of their files.
    allowImportingTsExtensions: true,
    noEmit: true,
    ...options,
  }
  const config = { compilerOptions, files: [...files, 'cloudflare-workers.d.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { stdout, stderr } = await run(TSC, ['-p', 'tsconfig.json'], { cwd: folder })
  return stdout + stderr
}
