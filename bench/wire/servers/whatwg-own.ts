// A prepared response through @whatwg-node/server, with its own lighter `Response`.
import { Response, createServerAdapter } from '@whatwg-node/server'

import { listen, readPreparedResponse } from '../peer.ts'

const { headers, body } = readPreparedResponse()
const init = { headers: Object.fromEntries(headers) }

await listen(createServerAdapter(() => new Response(body, init)))
