import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { ENTRY_POINTS } from './entry-points.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const REFERENCE = join(ROOT, 'build/reference')
const ENTRIES = join(ROOT, 'build/entries')

/** Writes one module per entry point, named as apps import it, so that pages have these names; returns their paths. */
function writeEntries(): string[] {
  return ENTRY_POINTS.map(({ subpath, source }) => {
    const entry = `${join(ENTRIES, 'ratesmith', subpath)}.ts`
    mkdirSync(dirname(entry), { recursive: true })
    const path = relative(dirname(entry), join(ROOT, source)).replaceAll('\\', '/')
    writeFileSync(entry, `export * from "${path}"\n`)
    return entry
  })
}

/** Removes `.ts` from the module names in the pages, as apps import them without it. */
function fixImports(): void {
  for (const name of readdirSync(REFERENCE, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.html')) continue
    const page = join(REFERENCE, name)
    const text = readFileSync(page, 'utf8')
    writeFileSync(page, text.replaceAll(/(from &quot;ratesmith[\w/-]*)\.ts&quot;/g, '$1&quot;'))
  }
}

for (const folder of [REFERENCE, ENTRIES]) rmSync(folder, { recursive: true, force: true })
const parameters = ['doc', '--no-lock', '--quiet', '--html', '--name=ratesmith']
try {
  execFileSync('deno', [...parameters, `--output=${REFERENCE}`, ...writeEntries()], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
} finally {
  rmSync(ENTRIES, { recursive: true })
}
fixImports()
process.stdout.write(`${join('build', 'reference', 'index.html')}\n`)
