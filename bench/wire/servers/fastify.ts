// A Fastify route with prepared bytes.
import Fastify from 'fastify'

import { readPreparedResponse, reportReady } from '../peer.ts'

const { path, headers, body } = readPreparedResponse()
const record = Object.fromEntries(headers)

const app = Fastify()
app.get(path, (_request, reply) => reply.headers(record).send(body))
const url = await app.listen({ host: '127.0.0.1', port: 0 })
reportReady(Number(new URL(url).port))
