// The same as direct.ts, with limits that no load reaches: by client address, or by key.
import { createAccess } from 'ratesmith/access'
import { toNodeHandler } from 'ratesmith/node'

import { listen, loadedHandler } from '../peer.ts'

const access = createAccess({
  plans: { address: '100000000/min', key: '100000000/min, 1000000000/month' },
  anonymous: 'address',
  keys: { find: () => ({ id: 'load', plan: 'key' }) },
})

await listen(toNodeHandler(await loadedHandler({ access })))
