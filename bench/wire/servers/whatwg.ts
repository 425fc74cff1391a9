// A prepared `Response` through @whatwg-node/server.
import { createServerAdapter } from '@whatwg-node/server'

import { listen, readPreparedResponse } from '../peer.ts'

const { headers, body } = readPreparedResponse()
const init = { headers }

await listen(createServerAdapter(() => new Response(body, init)))
