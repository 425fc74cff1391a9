// A Hono route with prepared bytes, on Hono's own server.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

import { LOOPBACK, readPreparedResponse, reportReady } from '../peer.ts'

const { path, headers, body } = readPreparedResponse()
const record = Object.fromEntries(headers)

const app = new Hono()
app.get(path, (c) => c.body(body, 200, record))
serve({ fetch: app.fetch, ...LOOPBACK }, ({ port }) => reportReady(port))
