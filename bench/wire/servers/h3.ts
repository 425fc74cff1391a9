// A route of H3 with ready bytes, on srvx, with the `Response` that srvx has for speed.
import { FastResponse } from 'srvx'

import { LOOPBACK, readyAnswer, tellReady } from '../peer.ts'
import { loadH3 } from './modules.ts'

const { path, headers, body } = readyAnswer()
const init = { headers: Object.fromEntries(headers) }

const { H3, serve } = await loadH3()
const app = new H3()
app.get(path, () => new FastResponse(body, init))
const server = await serve(app, { ...LOOPBACK, silent: true }).ready()
tellReady(Number(new URL(server.url ?? '').port))
