import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Browser } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'

/** Firefox of Debian, or of Ubuntu. */
export const FIREFOX: string =
  ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path)) ?? 'firefox'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Chromium would still look for updates: no other host has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/** A browser that Playwright controls. */
export interface BrowserProgram {
  readonly name: 'Chromium' | 'Firefox'
  readonly path: string
  launch(): Promise<Browser>
}

export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}

async function launchFirefox(): Promise<Browser> {
  const { firefox } = await import('playwright-core')
  const program = join(import.meta.dirname, 'firefox-program.ts')
  return firefox.launch({ channel: 'moz-firefox', executablePath: program })
}

/** The browser of the suites: Chromium, or with `BROWSER=firefox` Firefox. */
export const BROWSER: BrowserProgram =
  process.env['BROWSER'] === 'firefox'
    ? { name: 'Firefox', path: FIREFOX, launch: launchFirefox }
    : { name: 'Chromium', path: CHROMIUM, launch: launchChromium }

/** Playwright has touch, forced colours, downloads, paper and slow networks in Chromium only. */
export const IS_CHROMIUM: boolean = BROWSER.name === 'Chromium'
