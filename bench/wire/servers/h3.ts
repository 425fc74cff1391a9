// An H3 route with prepared bytes, on srvx, with its fast `Response`.
import { FastResponse } from 'srvx'

import { LOOPBACK, readPreparedResponse, reportReady } from '../peer.ts'
import { loadH3 } from './modules.ts'

const { path, headers, body } = readPreparedResponse()
const init = { headers: Object.fromEntries(headers) }

const { H3, serve } = await loadH3()
const app = new H3()
app.get(path, () => new FastResponse(body, init))
const server = await serve(app, { ...LOOPBACK, silent: true }).ready()
reportReady(Number(new URL(server.url ?? '').port))
