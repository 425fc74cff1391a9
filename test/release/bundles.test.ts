import { createReadStream } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { CHROMIUM, launchChromium } from '../system/chromium.ts'
import { listen, run } from '../system/processes.ts'
import { requireProgram } from '../system/require-program.ts'
import { openApp } from './app.ts'
import { byEsbuild, byRollup, byViteAsApp, byViteAsLibrary, byViteForServers } from './bundlers.ts'
import type { Bundler } from './bundlers.ts'
import { ALL, PORTABLE } from './entry-points.ts'
import { expectedRollCall, rollCall } from './roll-call.ts'

const app = openApp()

const EVERY = app.write('every.js', rollCall(ALL))
const SOME = app.write('portable.js', rollCall(PORTABLE))

const TELL = app.write(
  'tell.js',
  `const { tell } = await import(process.argv[2])
  console.log(JSON.stringify(await tell()))`,
)

const BUNDLERS: [name: string, bundler: Bundler, entry: string, subpaths: readonly string[]][] = [
  ['esbuild', byEsbuild, EVERY, ALL],
  ['Rollup', byRollup, EVERY, ALL],
  ['Vite, for a server', byViteForServers, EVERY, ALL],
  ['Vite, as a library for browsers', byViteAsLibrary, SOME, PORTABLE],
]

describe('every module, in a bundle', () => {
  it.each(BUNDLERS)('of %s', async (name, bundler, entry, subpaths) => {
    const bundle = await bundler(entry, join(app.folder, name))
    const { code, stdout, stderr } = await run(process.execPath, [TELL, bundle])
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toEqual(await expectedRollCall(subpaths))
  })

  it('of Vite, as an app in a browser', async ({ skip }) => {
    requireProgram('Chromium', CHROMIUM, skip)
    app.write('index.html', '<script type="module" src="page.js"></script>')
    const page = app.write(
      'page.js',
      "import { tell } from './portable.js'\nglobalThis.told = tell()",
    )
    await byViteAsApp(page, join(app.folder, 'site'))
    expect(await openPage(join(app.folder, 'site'))).toEqual(await expectedRollCall(PORTABLE))
  })
})

/** What the page in `folder` keeps as `told`. */
async function openPage(folder: string): Promise<unknown> {
  const { url } = await listen(({ url = '/' }, response) => {
    const path = url === '/' ? '/index.html' : url
    response.setHeader('content-type', path.endsWith('.js') ? 'text/javascript' : 'text/html')
    createReadStream(join(folder, path))
      .on('error', () => response.writeHead(404).end())
      .pipe(response)
  })
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(url)
    await page.waitForFunction('globalThis.told')
    return await page.evaluate('globalThis.told')
  } finally {
    await browser.close()
  }
}
