// Ours by `serve` of `ratesmith/deno`.
import { serve } from 'ratesmith/deno'

import { LOOPBACK, loadedHandler, tellReady } from '../peer.ts'

const { url } = await serve(await loadedHandler(), LOOPBACK)
tellReady(Number(new URL(url).port))
