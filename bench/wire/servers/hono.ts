// A route of Hono with ready bytes, on the server of its own project.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

import { LOOPBACK, readyAnswer, tellReady } from '../peer.ts'

const { path, headers, body } = readyAnswer()
const record = Object.fromEntries(headers)

const app = new Hono()
app.get(path, (c) => c.body(body, 200, record))
serve({ fetch: app.fetch, ...LOOPBACK }, ({ port }) => tellReady(port))
