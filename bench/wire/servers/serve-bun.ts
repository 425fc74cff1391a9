// Ours by `serve` of `ratesmith/bun`.
import { serve } from 'ratesmith/bun'

import { LOOPBACK, loadedHandler, tellReady } from '../peer.ts'

const { url } = await serve(await loadedHandler(), LOOPBACK)
tellReady(Number(new URL(url).port))
