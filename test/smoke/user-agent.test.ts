import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

import { expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'

it('requests to upstreams say which version of the package sends them, and where its page is', async () => {
  const agents: unknown[] = []
  const server = createServer(({ headers }, response) => {
    agents.push(headers['user-agent'])
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const urls = [`http://127.0.0.1:${Object(server.address()).port}`]
  const rates = createRates({ providers: { latest: createFawazahmed0Provider({ urls }) } })
  await expect(rates.latest()).rejects.toMatchObject({ status: 502 })
  rates.close()
  server.close()
  const { version, homepage } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(agents).toEqual([`ratesmith/${version} (+${homepage})`])
})
