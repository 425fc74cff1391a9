import { expect, it } from 'vitest'

import { run, start } from '../system/processes.ts'

const CLI = 'src/cli/main.ts'

it('converts with `ratesmith convert --demo`', async () => {
  const args = [CLI, 'convert', '100', 'USD', 'EUR', '--demo']
  const { code, stdout, stderr } = await run(process.execPath, args)
  expect(stdout).toMatch(/^\d+(\.\d+)? EUR\n$/)
  expect(stderr).toContain('Synthetic rates')
  expect(code).toBe(0)
})

it('serves with `ratesmith serve --demo` until SIGTERM', async () => {
  const running = start(process.execPath, [CLI, 'serve', '--demo', '--port', '0'])
  const [, root = ''] = await running.written(/listens on (http:\S+:\d+)/)
  const response = await fetch(`${root}/api/v1/convert?from=USD&to=EUR&amount=2`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ from: 'USD', to: 'EUR', amount: 2 })
  expect(await running.end()).toBe(0)
})
