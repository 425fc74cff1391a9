import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { run } from '../../system/processes.ts'
import { ROOT } from '../../system/root.ts'
import { STRICT } from '../package.ts'
import type { Page } from './page.ts'
import { nameOf } from './site.ts'
import type { Site } from './site.ts'

const COMPILER_OPTIONS = {
  ...STRICT,
  module: 'nodenext',
  types: ['node'],
  // Runtimes need the endings of files.
  allowImportingTsExtensions: true,
  // Declarations of frameworks are not checked here; declarations.test.ts checks ours.
  skipLibCheck: true,
}

/** Returns the lines of code in a page's table of frameworks. */
export function frameworksOf({ text }: Page): string[] {
  const [table = ''] = /^\| framework .*?\n\n/ms.exec(text) ?? []
  const rows = table.matchAll(/^\| [A-Z].*? +\| .*? \| `(.*?)`/gm)
  return [...rows].map(([, line = '']) => line)
}

/** Compiles the `ts` blocks and the rows of frameworks of all pages; resolves with the compiler's output. */
export async function compile(pages: readonly Page[], { folder }: Site): Promise<string> {
  const files = new Map([...pages.flatMap(filesOfBlocks), ...pages.flatMap(filesOfFrameworks)])
  for (const [path, text] of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  const workers = 'cloudflare-workers.d.ts'
  copyFileSync(join(ROOT, 'test/system', workers), join(folder, workers))
  const config = { compilerOptions: COMPILER_OPTIONS, files: [...files.keys(), workers] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const { stdout, stderr } = await run(tsc, ['-p', 'tsconfig.json'], { cwd: folder })
  return stdout + stderr
}

function filesOfBlocks({ name, blocks }: Page): [path: string, text: string][] {
  const programs = blocks.filter(({ language }) => language === 'ts')
  return programs.map((block) => [
    join('pages', name.replace('.md', ''), nameOf(block)),
    block.text,
  ])
}

/** Returns a file for each row of the table of frameworks that is not a line of a recipe on the page. */
function filesOfFrameworks(page: Page): [path: string, text: string][] {
  const recipes = page.blocks.flatMap(({ text }) => text.split('\n'))
  const rows = frameworksOf(page).filter((line) => !recipes.includes(line))
  const before = `import { createRatesHandler } from 'ratesmith'\nconst handler = createRatesHandler()\n`
  return rows.map((line, index) => [`framework-${index}.mts`, `${before}${line}\nexport {}`])
}
