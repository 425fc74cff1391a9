import express from 'express'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toExpressHandler } from 'ratesmith/express'
import { fakeProviders } from 'ratesmith/testing'

import { listen } from './processes.ts'
import { RUNTIMES } from './runtimes.ts'
import { rootOf, serve } from './serving.ts'

/** An app of Express with a page of its own behind the handler; `prefix` is where the handler is mounted. */
async function expressApp(explorer: boolean, prefix = ''): Promise<string> {
  const basePath = `${prefix}/api`
  const handler = createRatesHandler({ providers: fakeProviders(), explorer, basePath })
  const app = express()
  app.use(prefix || '/', toExpressHandler(handler))
  app.use((_request, response) => void response.status(418).send('the app'))
  return (await listen(app)).url
}

describe('the explorer page in Express', () => {
  it.each(['', '/fx'])('is at the base path, with or without a slash: %j', async (prefix) => {
    const root = await expressApp(true, prefix)
    for (const path of ['/api', '/api/', '/api?x']) {
      const response = await fetch(root + prefix + path)
      expect(response.status, path).toBe(200)
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/)
      expect(await response.text()).toContain('<title>')
    }
  })

  it('leaves the place to the app where it is off', async () => {
    const root = await expressApp(false)
    for (const path of ['/api', '/api/']) expect((await fetch(root + path)).status).toBe(418)
  })
})

describe('the explorer page of ratesmith serve', () => {
  it.each(RUNTIMES)(
    'is there compressed, and not with --no-explorer, on %s',
    async (...runtime) => {
      const running = serve(['--demo'], {}, runtime)
      const root = await rootOf(running)
      await running.written(/\/api\/ in a browser/)
      for (const path of ['/api', '/api/']) {
        const response = await fetch(root + path, { headers: { 'accept-encoding': 'br' } })
        expect(response.headers.get('content-encoding')).toBe('br')
        expect(await response.text()).toContain('<title>')
      }
      const without = serve(['--demo', '--no-explorer'], {}, runtime)
      expect((await fetch(`${await rootOf(without)}/api`)).status).toBe(404)
      expect(without.stdout).not.toContain('browser')
    },
  )
})
