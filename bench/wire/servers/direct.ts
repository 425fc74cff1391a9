// ratesmith on Node, mounted as recommended: straight from the handler to the socket.
import { toNodeHandler } from 'ratesmith/node'

import { listen, loadedHandler } from '../peer.ts'

await listen(toNodeHandler(await loadedHandler()))
