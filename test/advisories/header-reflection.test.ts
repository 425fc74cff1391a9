import { expect, test } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import { ENDPOINTS, NONCE, PATHS, errorMessage } from './endpoints.ts'
import { fetchFrom, loadedHandler } from './loaded-handler.ts'

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST']

/** Parameters whose error does not echo the value. */
const SILENT = new Set(
  'date change start end interval value fill layout format reverse round rule maxAge source expand quote context'.split(
    ' ',
  ),
)

const handler = await loadedHandler()

const IGNORED = [
  '/ /api/ /api/v1/ /api/v1/latest/ /api/v1/latest /api/rates'.split(' '),
  PATHS.flatMap((path) => ['', 'x=', 'x['].map((before) => `${path}?${before}`)),
].flat()

test.each(IGNORED)('responses do not echo unknown parts after %s', async (before) => {
  for (const method of METHODS) {
    for (const ending of ['', '=1', ']=1']) {
      const target = `${before}${NONCE}${ending}`
      const { status, headers, body } = await send(handler, { method, target })
      expect(JSON.stringify(headers)).not.toContain(NONCE)
      // The error of an unknown name echoes it, once.
      const pieces = String(body).split(NONCE)
      expect(pieces.length, target).toBeLessThanOrEqual(status === 400 ? 2 : 1)
    }
  }
})

test.each(ENDPOINTS.flatMap((each) => each.parameters.map((name) => [name, each] as const)))(
  'the error for %s echoes only its value, once, on $path',
  async (name, { path, target }) => {
    const query = new URLSearchParams(target.slice(path.length))
    query.set(name, NONCE)
    query.set('x', NONCE)
    const { status, headers, body } = await fetchFrom(handler, `${path}?${query}`)
    const message = errorMessage(path, body)
    const times = SILENT.has(name) ? 0 : 1
    expect(status).toBe(400)
    expect(message).toContain(name)
    expect(message.split(NONCE)).toHaveLength(times + 1)
    expect(body.split(NONCE)).toHaveLength(times + 1)
    expect(JSON.stringify(headers)).not.toContain(NONCE)
  },
)
