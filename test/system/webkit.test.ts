import type { WebDriver } from 'selenium-webdriver'
import { beforeEach, expect, it, onTestFinished } from 'vitest'

import { serveForSuite } from './commands.ts'
import { requireProgram, start } from './processes.ts'
import { findPackage } from './runtimes.ts'
import { freePort } from './sockets.ts'

const XVFB = '/usr/bin/Xvfb'
const DRIVER = '/usr/bin/WebKitWebDriver'
/** The Enter key in WebDriver. */
const ENTER = '\uE007'

beforeEach(({ skip }) => {
  requireProgram('Xvfb', XVFB, skip)
  requireProgram('WebKitGTK', DRIVER, skip)
  requireProgram('selenium-webdriver', findPackage('selenium-webdriver') ?? '', skip)
})
const demo = serveForSuite([])

/** Opens the explorer in WebKitGTK, with the locale `C`, which `Intl` refuses. */
async function openExplorer(): Promise<WebDriver> {
  const screen = start(XVFB, ['-displayfd', '1', '-screen', '0', '1280x1024x24'])
  const [display] = await screen.written(/\d+(?=\n)/)
  const port = await freePort()
  const env = { DISPLAY: `:${display}`, LC_ALL: 'C.UTF-8', NO_PROXY: '127.0.0.1' }
  const driver = start(DRIVER, [`--port=${port}`], { env })
  const url = `http://127.0.0.1:${port}`
  await expect.poll(() => fetch(`${url}/status`).then(({ ok }) => ok)).toBe(true)
  const { Builder } = await import('selenium-webdriver')
  const capabilities = { browserName: 'MiniBrowser' }
  const browser = await new Builder().usingServer(url).withCapabilities(capabilities).build()
  onTestFinished(async () => {
    await browser.quit()
    await driver.end()
  })
  await browser.get(`${demo.root}/api/`)
  return browser
}

it('converts, charts, finds and copies in WebKit', async () => {
  const browser = await openExplorer()
  const find = (selector: string) => browser.findElement({ css: selector })
  const textOf = (selector: string) => find(selector).getText()
  const expectText = async (selector: string, text: RegExp) => {
    await expect.poll(() => textOf(selector)).toMatch(text)
  }
  const type = async (selector: string, ...keys: string[]) => {
    await find(selector).clear()
    await find(selector).sendKeys(...keys)
  }

  await expectText('#result', / EUR$/)
  expect(await browser.executeScript('return navigator.language')).toBe('C')
  await type('#amount', '1,000.5')
  await expectText('#given', /^1,000\.5/)
  await find('#to').click()
  await type('#to', 'yen')
  await expect
    .poll(() => browser.findElements({ css: '#to-JPY[aria-selected=true]' }))
    .toHaveLength(1)
  await find('#to').sendKeys(ENTER)
  await expectText('#result', / JPY$/)
  await find('#copy-exact').click()
  await expectText('#exact-state', /^(Copied|Selected)/)
  expect(await browser.executeScript('return String(getSelection())')).toBe(await textOf('#exact'))
  await browser
    .actions()
    .move({ origin: find('#plot') })
    .perform()
  await expectText('#tip', /^\d{4}-\d\d-\d\d[\d.]+ JPY$/)
  await type('#search', 'brazil')
  await expectText('#rows', /^BRL Brazilian Real/)
  await expect.poll(() => browser.getCurrentUrl()).toContain('to=JPY')
  await browser.navigate().refresh()
  await expectText('#result', / JPY$/)
  await find('#converter .response summary').click()
  await expectText('#converter .facts', /^Status 200/)
  await find('#converter [data-form=curl]').click()
  await expectText('#converter .snippet', /^curl '/)
})
