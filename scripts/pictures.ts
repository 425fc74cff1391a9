// Renders the pictures of the README from the real explorer and the real commands, into docs/pictures or the folder given.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createRatesHandler } from '../src/index.ts'
import { fakeProviders } from '../src/testing/index.ts'
import { launchChromium } from '../test/system/launch-browser.ts'
import { NOW, terminalPicture } from './terminal-picture.ts'

const ORIGIN = 'http://127.0.0.1:8787'

const folder = process.argv[2] ?? join(import.meta.dirname, '../docs/pictures')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'terminal.svg'), await terminalPicture())
writeFileSync(join(folder, 'explorer.png'), await explorerPicture())

/** Resolves with a screenshot of the explorer on the synthetic market, as PNG. */
async function explorerPicture(): Promise<Uint8Array> {
  const handler = createRatesHandler({ explorer: true, now: () => NOW, providers: fakeProviders() })
  await handler.refresh()
  const browser = await launchChromium()
  try {
    const page = await browser.newPage({
      viewport: { width: 880, height: 778 },
      deviceScaleFactor: 2,
      colorScheme: 'light',
      locale: 'en-GB',
    })
    await page.clock.setFixedTime(NOW)
    // Without a server, so that the address in the picture does not depend on free ports.
    await page.route(`${ORIGIN}/**`, async (route) => {
      const response = await handler(new Request(route.request().url()))
      const body = Buffer.from(await response.arrayBuffer())
      await route.fulfill({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body,
      })
    })
    await page.goto(`${ORIGIN}/api/#period=1Y`)
    await page.waitForFunction(() =>
      [...document.querySelectorAll('main section')].every(
        (section) => section.ariaBusy === 'false' && section.getAttribute('data-state') !== null,
      ),
    )
    return await page.screenshot({ animations: 'disabled' })
  } finally {
    await browser.close()
  }
}
