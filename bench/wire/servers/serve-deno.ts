// ratesmith through `serve` of `ratesmith/deno`.
import { serve } from 'ratesmith/deno'

import { LOOPBACK, loadedHandler, reportReady } from '../peer.ts'

const { url } = await serve(await loadedHandler(), LOOPBACK)
reportReady(Number(new URL(url).port))
