// ratesmith mounted in Express 5.
import express from 'express'
import { toExpressHandler } from 'ratesmith/express'

import { listen, loadedHandler } from '../peer.ts'

await listen(
  express()
    .disable('x-powered-by')
    .use(toExpressHandler(await loadedHandler())),
)
