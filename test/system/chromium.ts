import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeEach, onTestFinished } from 'vitest'

import { requireProgram } from './require-program.ts'
import { findPackage } from './runtimes.ts'

/** Where Debian installs it. */
const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // It would still look for updates: no other host has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

let launched: Promise<Browser> | undefined

/** Skips the tests of a file where no browser is installed, and closes it after them. */
export function needBrowser(): void {
  beforeEach(({ skip }) => {
    requireProgram('Chromium', CHROMIUM, skip)
    requireProgram('playwright-core', findPackage('playwright-core') ?? '', skip)
  })
  afterAll(async () => (await launched)?.close())
}

/** A profile of one Chromium without a window, which ends with the test. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  launched ??= launch()
  const context = await (await launched).newContext(options)
  onTestFinished(() => context.close())
  return context
}

async function launch(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}
