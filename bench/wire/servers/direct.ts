// Ours on Node as it is meant to be mounted: straight from the handler to the socket.
import { toNodeHandler } from 'ratesmith/node'

import { listen, loadedHandler } from '../peer.ts'

await listen(toNodeHandler(await loadedHandler()))
