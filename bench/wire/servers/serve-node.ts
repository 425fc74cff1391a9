// ratesmith through `serve` of `ratesmith/node`.
import { serve } from 'ratesmith/node'

import { LOOPBACK, loadedHandler, reportReady } from '../peer.ts'

const { url } = await serve(await loadedHandler(), LOOPBACK)
reportReady(Number(new URL(url).port))
