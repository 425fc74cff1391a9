// A ready answer through @whatwg-node/server, in the lighter `Response` that it brings itself.
import { Response, createServerAdapter } from '@whatwg-node/server'

import { listen, readyAnswer } from '../peer.ts'

const { headers, body } = readyAnswer()
const init = { headers: Object.fromEntries(headers) }

await listen(createServerAdapter(() => new Response(body, init)))
