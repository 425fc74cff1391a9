// Sends a request to the export of the module at the given path: a handler, or an object with one as `fetch`.
import { pathToFileURL } from 'node:url'

import type { RatesHandler } from 'ratesmith'

interface Exported {
  handler?: RatesHandler
  default?: { fetch(request: Request): Promise<Response> }
}

const [path = '', url = 'http://localhost/api/v1/latest'] = process.argv.slice(2)
const exported: Exported = await import(pathToFileURL(path).href)

if (exported.handler) await exported.handler.rates.latest()
const response = await exported.default?.fetch(new Request(url))
if (response?.ok === false) throw new Error(await response.text())

// A client of a store may hold its connection, and with it the process.
process.exit()
