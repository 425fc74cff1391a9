// ratesmith on Node behind a function of an app, so that the adapter uses `Request` and `Response`.
import { toNodeHandler } from 'ratesmith/node'

import { listen, loadedHandler } from '../peer.ts'

const handler = await loadedHandler()
await listen(toNodeHandler((request) => handler(request)))
