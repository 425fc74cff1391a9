// The same as direct.ts, with limits that no load reaches: by client address, or by key.
import { createAccess } from 'ratesmith/access'
import { toNodeHandler } from 'ratesmith/node'

import { listen, loadedHandler } from '../peer.ts'

const access = createAccess({
  plans: { address: { burst: '100000000/min' }, key: { burst: '100000000/min', month: 1e9 } },
  anonymous: 'address',
  keys: { find: () => ({ id: 'load', plan: 'key' }) },
})

await listen(toNodeHandler(await loadedHandler({ access })))
