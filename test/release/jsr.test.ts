import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { JSR_MANIFEST } from '../../scripts/jsr.ts'
import { run, temporaryFolder } from '../system/processes.ts'
import { DENO as RUNTIME, ROOT } from '../system/runtimes.ts'

const [, DENO] = RUNTIME
const { name, exports: entries } = JSR_MANIFEST
const folder = temporaryFolder(afterAll)
let publication: { code: number | null; text: string; files: string[] }

// With an empty cache and no network.
beforeAll(async () => {
  await run(process.execPath, ['scripts/jsr.ts'])
  const nowhere = 'http://127.0.0.1:9'
  const env = { DENO_DIR: join(folder, 'cache'), HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere }
  const tried = await run(DENO, ['publish', '--dry-run', '--allow-dirty'], { env })
  const text = tried.stdout + tried.stderr
  const listed = [...text.matchAll(/^\s+file:\/\/(\S+) \(/gm)]
  const files = listed.map(([, path = '']) => path.slice(ROOT.length))
  publication = { code: tried.code, text, files }
})

/** Writes a program for Deno that has only the published files of the package, and returns its folder. */
function writeConsumer(): string {
  const app = join(folder, 'app')
  for (const file of publication.files) cpSync(join(ROOT, file), join(app, 'package', file))
  // A member of a workspace is found by its name.
  cpSync(join(ROOT, 'jsr.json'), join(app, 'package/deno.json'))
  writeFileSync(join(app, 'deno.json'), '{ "workspace": ["./package"] }')
  const imports = Object.keys(entries).map((path) => `import '${path.replace('.', name)}'`)
  writeFileSync(
    join(app, 'app.ts'),
    `${imports.join('\n')}
    import { createRatesHandler } from '${name}'
    import { fakeProviders } from '${name}/testing'
    const handler = createRatesHandler({ providers: fakeProviders() })
    const response = await handler(new Request('http://localhost/api/v1/latest'))
    const description = await handler(new Request('http://localhost/api/v1/openapi.json'))
    const { openapi } = await description.json()
    console.log(response.status, openapi)`,
  )
  return app
}

describe('the publication to JSR', () => {
  it('has no slow types', () => {
    const { code, text } = publication
    expect(text).toContain('Checking for slow types')
    expect(text).not.toMatch(/^(warning|error)/im)
    expect(code, text).toBe(0)
  })

  it('contains the sources except the command line, and the documents', () => {
    const { files } = publication
    const allowed =
      /^(jsr\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/[\w/-]+\.md|src\/generated\/openapi\.json|(adapters|src(?!\/cli\/))\/[\w/-]+\.ts)$/
    expect(files.filter((file) => !allowed.test(file))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'src/index.ts']))
  })

  it('has a docstring on every public symbol, and refers to public symbols only', async () => {
    const { code, stderr } = await run(DENO, ['doc', '--lint', ...Object.values(entries)])
    // Warnings concern types of other packages.
    expect(stderr).not.toMatch(/^error/m)
    expect(stderr).toMatch(/^Checked \d+ files$/m)
    expect(code).toBe(0)
  })

  it('runs in Deno', async () => {
    const cwd = writeConsumer()
    const { code, stdout, stderr } = await run(DENO, ['run', '-A', '--check', 'app.ts'], { cwd })
    expect(stdout, stderr).toBe('200 3.1.1\n')
    expect(code).toBe(0)
  })
})
