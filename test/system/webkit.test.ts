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

it('converts by words, for a day and back, and charts, finds and copies in WebKit', async () => {
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
  const choose = async (field: string, text: string, code: string) => {
    await find(field).click()
    await type(field, text)
    const option = { css: `${field}-${code}[aria-selected=true]` }
    await expect.poll(() => browser.findElements(option)).toHaveLength(1)
    await find(field).sendKeys(ENTER)
  }

  await expectText('#rate', / EUR$/)
  expect(await browser.executeScript('return navigator.language')).toBe('C')
  await type('#amount', '1,000')
  await choose('#from', 'yen', 'JPY')
  await choose('#to', 'franc', 'CHF')
  await expectText('#rate', /^100 JPY = [\d.]+ CHF$/)
  expect(await find('#amount').getAttribute('value')).toBe('1,000')
  expect(await find('#result').getAttribute('value')).toMatch(/^\d\.\d\d$/)
  expect(await find('#rounds div:nth-child(2) dd').getText()).toBe(
    await find('#result').getAttribute('value'),
  )

  // WebKitGTK has no fields for the parts of a day.
  await browser.executeScript(`const date = document.querySelector('#date')
    date.value = '2026-07-12'
    date.dispatchEvent(new Event('change'))`)
  await expectText('#rule', /^Rate of Friday 10 Jul 2026, the last before Sunday$/)
  expect(await textOf('#date + span')).toBe('12 Jul 2026 ▾')
  await find('#today').click()
  await expectText('#converter time', /^Published /)

  await find('#menu').click()
  expect(await find('#more').isDisplayed()).toBe(true)
  await find('#copy-link').click()
  await expectText('#link-state', /^(Link copied|Copy the link from the address bar)$/)
  expect(await browser.getCurrentUrl()).toContain('amount=1000&from=JPY&to=CHF')
  await find('#menu').click()
  expect(await find('#more').isDisplayed()).toBe(false)
  await browser.navigate().back()
  await expectText('#rate', /^100 JPY = [\d.]+ EUR$/)
  await browser.navigate().forward()
  await expectText('#rate', / CHF$/)

  await browser.executeScript(`document.querySelector('#plot').scrollIntoView({ block: 'center' })`)
  await browser
    .actions()
    .move({ origin: find('#plot') })
    .perform()
  await expectText('#tip', /^\d+ \w{3} 20\d\d\s*0\.0\d+ CHF$/)
  await type('#search', 'brazil')
  await expectText('#rows', /BRL Brazilian Real/)
  await find('#rows [data-code=BRL] th button').sendKeys(ENTER)
  await expectText('#rate', / BRL$/)
  // Named colours follow the theme.
  const back = 'return getComputedStyle(document.documentElement).backgroundColor'
  expect(
    await browser.executeScript(`document.documentElement.dataset.theme = 'dark'; ${back}`),
  ).toBe('rgb(16, 16, 18)')

  await find('#converter .code summary').click()
  await expectText('#converter .facts', /^Status 200/)
  await find('#converter .copies button').click()
  await expectText('#converter .snippet', /^curl '/)
  expect(await browser.executeScript('return String(getSelection())')).toBe(
    await textOf('#converter .snippet'),
  )
})
