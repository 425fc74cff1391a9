import { expect } from 'vitest'

import { expectGood } from './answers.ts'
import type { FaultCase, Meeting, Variant } from './case.ts'
import { BOTH, after, failing } from './forms.ts'
import { askAll } from './journey.ts'
import { createTap } from './streams.ts'
import { truthNow } from './truth.ts'
import { NONCE, answer, later, wireError } from './upstream.ts'
import type { Inject } from './upstream.ts'

const SECOND = 1_000

const tap = createTap()

/** Faults of the way to an upstream. */
export const transport: readonly FaultCase[] = [
  {
    id: 'dns-slow',
    layer: 'transport',
    fault: 'the name is found only after 20 s',
    variants: [
      unreachable('an answer after 20 s', after(20 * SECOND), {
        takes: 'limit',
        meanwhile: expectAborted,
      }),
    ],
  },
  {
    id: 'conn-refused',
    layer: 'transport',
    fault: 'nobody listens: the quickest failure there is',
    variants: [
      unreachable(
        'refused after 1 ms',
        async (exchange) => {
          await later(exchange, 1)
          throw wireError('ECONNREFUSED')
        },
        { takes: 1 },
      ),
    ],
  },
  {
    id: 'conn-timeout',
    layer: 'transport',
    fault: 'the connection is never made',
    variants: [
      unreachable('nothing until the call is aborted', after(Infinity), {
        takes: 'limit',
        meanwhile: expectAborted,
      }),
    ],
  },
  {
    id: 'tls-expired',
    layer: 'transport',
    fault: 'the certificate has expired, or is for another host',
    variants: ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'].map((code) =>
      unreachable(code, () => Promise.reject(wireError(code))),
    ),
  },
  {
    id: 'reset-mid-body',
    layer: 'transport',
    fault: 'the connection is reset in the middle of the body',
    variants: [
      unreachable('after half of the bytes', ({ good }) =>
        tap.breakOff(good.slice(0, good.length / 2), wireError('ECONNRESET')),
      ),
    ],
  },
  {
    id: 'short-content-length',
    layer: 'transport',
    fault: 'the body looks complete, but more was announced',
    variants: [
      unreachable('all of the JSON, then the end of the connection', ({ good }) => {
        const headers = { 'content-length': String(2 * good.length) }
        return tap.breakOff(good, wireError('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), headers)
      }),
    ],
  },
  {
    id: 'slow-loris-body',
    layer: 'transport',
    fault: 'the headers come at once, the body a byte at a time',
    variants: [
      unreachable('a byte every 200 ms', (exchange) => tap.drip(exchange, exchange.good, 200), {
        takes: 'limit',
      }),
    ],
  },
  {
    id: 'hang-after-headers',
    layer: 'transport',
    fault: 'the headers come, the body never does',
    variants: [
      unreachable('until the call is aborted', (exchange) => tap.stall(exchange, true), {
        takes: 'limit',
      }),
      unreachable('even after the call is aborted', (exchange) => tap.stall(exchange, false), {
        takes: 'limit',
        meanwhile: expectCancelled,
      }),
    ],
  },
  {
    id: 'abort-ignored',
    layer: 'transport',
    fault: 'a provider, or a fetch, takes no notice of its signal',
    variants: [
      {
        name: 'a provider that never answers',
        dataSets: BOTH,
        verdict: 'refused',
        takes: 'limit',
        misbehave: () => new Promise(() => {}),
      },
      unreachable('a fetch that never answers', () => new Promise(() => {}), { takes: 'limit' }),
      unreachable(
        'a fetch that answers late with another table',
        ({ machine, good }) =>
          new Promise((resolve) => {
            // Nothing is wrong with it, so that only its being late can keep it from being served.
            const late = good.replaceAll(/(?<="(?:GBP|INR)":)[\d.]+/g, (rate) =>
              String(Number(rate) * 1.5),
            )
            machine.after(12 * SECOND, () => resolve(answer(late)))
          }),
        { takes: 'limit', afterwards: expectLateDiscarded },
      ),
    ],
  },
  {
    id: 'http2-goaway',
    layer: 'transport',
    fault: 'a connection is closed when it is used again',
    variants: [unreachable('UND_ERR_SOCKET', () => Promise.reject(wireError('UND_ERR_SOCKET')))],
  },
  {
    id: 'provider-throws-nonerror',
    layer: 'transport',
    fault: 'a provider rejects with something that is no error',
    variants: [undefined, null, NONCE, 0, Symbol(NONCE), Object.create(null)].map(
      (thrown: unknown, index): Variant => ({
        name: `${typeof thrown}, ${index}`,
        dataSets: BOTH,
        verdict: 'refused',
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is the fault
        misbehave: () => Promise.reject(thrown),
      }),
    ),
  },
]

function unreachable(name: string, inject: Inject, more: Partial<Variant> = {}): Variant {
  return failing(name, inject, { dataSets: BOTH, ...more })
}

function expectAborted({ world, state }: Meeting): void {
  const aborted = world.upstream.calls.filter(({ init }) => init.signal?.aborted)
  expect(aborted).toHaveLength(state === 'fresh' ? 0 : 1)
}

function expectCancelled({ state }: Meeting): void {
  if (state !== 'fresh') expect(tap.bodies.at(-1)).toMatchObject({ isCancelled: true })
}

async function expectLateDiscarded({ world }: Meeting): Promise<void> {
  await world.machine.advance(30 * SECOND)
  const replies = await askAll(world)
  for (const reply of replies) expectGood(reply, truthNow(world, undefined), ['fresh'])
}
