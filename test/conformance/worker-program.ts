// Serves the handler as a Worker.
import { toWorker } from 'ratesmith/cloudflare'

import { createConformanceHandler } from './market.ts'

export default toWorker(() => createConformanceHandler('/api'))
