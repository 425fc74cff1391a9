// ratesmith through `serve` of `ratesmith/bun`.
import { serve } from 'ratesmith/bun'

import { LOOPBACK, loadedHandler, reportReady } from '../peer.ts'

const { url } = await serve(await loadedHandler(), LOOPBACK)
reportReady(Number(new URL(url).port))
