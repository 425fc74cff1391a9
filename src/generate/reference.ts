import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import manifest from '../../jsr.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REFERENCE = join(ROOT, 'build/reference')
const ENTRIES = join(ROOT, 'build/entries')

/** Makes modules that are called what an app writes, for pages that are called so too; gives their files. */
function writeEntries(): string[] {
  return Object.entries(manifest.exports).map(([subpath, source]) => {
    const entry = `${join(ENTRIES, 'ratesmith', subpath)}.ts`
    mkdirSync(dirname(entry), { recursive: true })
    const path = relative(dirname(entry), join(ROOT, source)).replaceAll('\\', '/')
    writeFileSync(entry, `export * from "${path}"\n`)
    return entry
  })
}

/** Has the pages say what is to be imported from as an app writes it: without an ending. */
function mendImports(): void {
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
mendImports()
process.stdout.write(`${join('build', 'reference', 'index.html')}\n`)
