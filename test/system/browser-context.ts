import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeEach, onTestFinished } from 'vitest'

import { BROWSER } from './launch-browser.ts'
import { requireProgram } from './processes.ts'
import { findPackage } from './runtimes.ts'

let launched: Promise<Browser> | undefined

/** Skips the tests of a file if no browser is installed, and closes it after them. */
export function needBrowser(): void {
  beforeEach(({ skip }) => {
    requireProgram(BROWSER.name, BROWSER.path, skip)
    requireProgram('playwright-core', findPackage('playwright-core') ?? '', skip)
  })
  afterAll(async () => (await launched)?.close())
}

/** Opens a profile of one headless browser, and closes it after the test. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  launched ??= BROWSER.launch()
  const context = await (await launched).newContext(options)
  onTestFinished(() => context.close())
  return context
}
