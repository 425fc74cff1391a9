// Ours by `serve` of `ratesmith/node`.
import { serve } from 'ratesmith/node'

import { LOOPBACK, loadedHandler, tellReady } from '../peer.ts'

const { url } = await serve(await loadedHandler(), LOOPBACK)
tellReady(Number(new URL(url).port))
