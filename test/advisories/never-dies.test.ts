import { afterEach, describe, expect, test } from 'vitest'

import { RatesError } from '../../src/index.ts'
import {
  ENDPOINTS,
  createStillHandler,
  get,
  loadedHandler,
  providersThat,
  turnOfLoop,
  watchEscapes,
} from './loaded-handler.ts'

const escaped = watchEscapes()

afterEach(async () => {
  await turnOfLoop()
  if (escaped.length > 0) throw new Error(`not handled: ${escaped.length}`, { cause: escaped[0] })
})

const fail = (): never => {
  throw new Error('must not be read')
}

const THROWN: Record<string, unknown> = {
  undefined,
  'a text': 'text',
  'a symbol': Symbol('thrown'),
  'an object without a prototype': Object.create(null),
  'an error whose message throws': Object.defineProperty(new Error('x'), 'message', { get: fail }),
  'an error whose cause throws': Object.defineProperty(new Error('x'), 'cause', { get: fail }),
  'an opaque object': new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail }),
}

describe.each(Object.entries(THROWN))('with hooks that throw %s', (_, thrown) => {
  const throws = (): never => {
    throw thrown
  }
  const rejects = async (): Promise<never> => throws()

  test.each([
    ['at once', throws],
    ['later', rejects],
  ])('every request gets a response: %s', async (_when, hook) => {
    const store = { get: hook, set: hook, claim: hook }
    const hooks = { store, onEvent: hook, waitUntil: hook, fetch: hook }
    for (const handler of [
      await loadedHandler(hooks),
      createStillHandler({ ...hooks, providers: providersThat(hook) }),
      createStillHandler(hooks),
    ]) {
      await handler.refresh()
      for (const { target } of ENDPOINTS) {
        expect([200, 502], target).toContain((await get(handler, target)).status)
      }
      handler.close()
    }
  })

  test('every operation resolves, or rejects with a RatesError', async () => {
    const { rates } = createStillHandler({ providers: providersThat(rejects), onEvent: throws })
    const pair = { from: 'USD', to: 'EUR' }
    for (const failing of [rates.latest(), rates.convert(pair), rates.history(pair)]) {
      await expect(failing).rejects.toBeInstanceOf(RatesError)
    }
    await expect(rates.currencies()).resolves.toHaveProperty('currencies')
  })

  test('a request with throwing properties gets a response', async () => {
    const handler = await loadedHandler()
    for (const name of ['method', 'target', 'header', 'signal', 'url', 'headers']) {
      const raw = { method: 'GET', target: '/api/v1/latest', header: () => null }
      const request = new Request('http://localhost/api/v1/latest')
      for (const broken of [raw, request]) Object.defineProperty(broken, name, { get: throws })
      expect([200, 500]).toContain((await handler.answer(raw)).status)
      expect([200, 500]).toContain((await handler(request)).status)
    }
  })
})
