// A route of Fastify with ready bytes.
import Fastify from 'fastify'

import { readyAnswer, tellReady } from '../peer.ts'

const { path, headers, body } = readyAnswer()
const record = Object.fromEntries(headers)

const app = Fastify()
app.get(path, (_request, reply) => reply.headers(record).send(body))
const url = await app.listen({ host: '127.0.0.1', port: 0 })
tellReady(Number(new URL(url).port))
