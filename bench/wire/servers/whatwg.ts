// A ready `Response` through @whatwg-node/server.
import { createServerAdapter } from '@whatwg-node/server'

import { listen, readyAnswer } from '../peer.ts'

const { headers, body } = readyAnswer()
const init = { headers }

await listen(createServerAdapter(() => new Response(body, init)))
