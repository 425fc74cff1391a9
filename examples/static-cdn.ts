// npm install ratesmith && npm pkg set type=module
// npx ratesmith export rates --demo
// node static-cdn.ts rates
//
// Answers from the files of an export on a static host: here a server of files in this process.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

import { consoleLogger, createRates } from 'ratesmith'
import { createFolderProvider } from 'ratesmith/providers'
import { fakeProviders } from 'ratesmith/testing'

const [, , folder = 'rates'] = process.argv

const host = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  readFile(join(folder, pathname)).then(
    (file) => response.end(file),
    () => response.writeHead(404).end(),
  )
})
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
const address = host.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

// An export without --demo is of the European Central Bank, the default of `provider`.
const { latest, history } = fakeProviders()
const rates = createRates({
  providers: {
    latest: createFolderProvider({ url, provider: latest }),
    history: createFolderProvider({ url, provider: history }),
  },
  onEvent: consoleLogger(),
})

const { rate, source } = await rates.convert({ from: 'USD', to: 'EUR' })
const { stats } = await rates.history({ from: 'EUR', to: 'USD', period: '1M' })
console.log(`1 USD = ${rate} EUR (${source.name})`)
console.log(`1 EUR was ${stats?.low} to ${stats?.high} USD in a month`)

rates.close()
host.close()
