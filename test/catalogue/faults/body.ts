import { expect } from 'vitest'

import { codes } from '../../fixtures/codes.ts'
import type { FaultCase, Meeting, Variant } from './case.ts'
import { BOTH, REJECTED, failing, rewritten, says, spoiltLatest } from './forms.ts'
import { createTap } from './streams.ts'
import { NONCE, answer } from './upstream.ts'
import type { Inject } from './upstream.ts'

const MEGABYTE = 1024 * 1024

/** More bytes than this are not read, and not more than a chunk beyond. */
const CAP = { latest: MEGABYTE, history: 4 * MEGABYTE }
const CHUNK = 64 * 1024

const tap = createTap()

/** Faults of the body as text. */
export const body: readonly FaultCase[] = [
  {
    id: 'body-truncated-json',
    layer: 'body',
    fault: 'the JSON ends in the middle, in good order',
    variants: [
      unreadable('half of it', ({ good }) => answer(good.slice(0, good.length / 2))),
      unreadable('all but the last brace', ({ good }) => answer(good.slice(0, -1))),
    ],
  },
  {
    id: 'body-two-json',
    layer: 'body',
    fault: 'two documents, one behind the other',
    variants: [
      unreadable('twice the same', ({ good }) => answer(good + good)),
      unreadable('two empty ones', says('{}{}')),
    ],
  },
  {
    id: 'body-bom',
    layer: 'body',
    fault: 'a byte order mark before the JSON',
    variants: [readable('U+FEFF', (good) => `\uFEFF${good}`)],
  },
  {
    id: 'body-latin1',
    layer: 'body',
    fault: 'another encoding than UTF-8',
    variants: [
      {
        ...readable('a byte E9 in a text', (good) => good),
        inject({ good }) {
          const bytes = new TextEncoder().encode(good.replace('{', '{"note":"caf~",'))
          bytes[bytes.indexOf('~'.charCodeAt(0))] = 0xe9
          return answer(bytes, 200, { 'content-type': 'application/json; charset=iso-8859-1' })
        },
      },
    ],
  },
  {
    id: 'body-nan-literal',
    layer: 'body',
    fault: 'NaN or Infinity where a number belongs',
    variants: ['NaN', 'Infinity', '-Infinity'].map((literal) =>
      unreadable(
        literal,
        rewritten((good) => good.replace(/("GBP"):[\d.]+/, `$1:${literal}`)),
      ),
    ),
  },
  {
    id: 'body-proto-key',
    layer: 'body',
    fault: '__proto__ among the codes or dates',
    variants: [
      withKeys('with an object', '"__proto__":{"EUR":1,"polluted":1}'),
      withKeys('with a number', '"__proto__":1', ['latest']),
    ],
  },
  {
    id: 'body-constructor-key',
    layer: 'body',
    fault: 'names of every object among the codes or dates',
    variants: [
      withKeys('toString, constructor', '"toString":1,"constructor":1,"valueOf":1', ['latest']),
      withKeys('of whole days', '"toString":{"USD":1},"constructor":{"USD":1}', ['history']),
    ],
  },
  {
    id: 'body-rates-array',
    layer: 'body',
    fault: 'the rates are something else than an object',
    variants: ['[1,2]', `"${NONCE}"`, '1', 'null', 'true'].map((rates) =>
      unreadable(
        rates,
        rewritten((good) => good.replace(/"rates":.*$/, `"rates":${rates}}`)),
      ),
    ),
  },
  {
    id: 'body-100mb',
    layer: 'body',
    fault: 'a body of 100 MB',
    variants: [
      endless('white space', () => tap.pour(' ', 100 * MEGABYTE)),
      endless('keys', () => tap.pour(`"${NONCE}":1,`, 100 * MEGABYTE)),
    ],
  },
  {
    id: 'body-gzip-bomb',
    layer: 'body',
    fault: 'a few bytes on the wire that become 300 MB',
    variants: [
      endless('as fetch hands it over', () =>
        tap.pour('0', 300 * MEGABYTE, { 'content-encoding': 'gzip', 'content-length': '290000' }),
      ),
    ],
  },
  {
    id: 'body-encoding-chain',
    layer: 'body',
    fault: 'compressed eight times',
    variants: [
      unreadable('handed over as it came', () =>
        answer(new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x7b, 0x7d]), 200, {
          'content-encoding': Array(8).fill('gzip').join(', '),
        }),
      ),
      unreadable('refused by fetch', () =>
        Promise.reject(new TypeError(`too many content encodings ${NONCE}`)),
      ),
    ],
  },
  {
    id: 'body-keys-100k',
    layer: 'body',
    fault: 'far more codes than there are currencies',
    variants: [17_500, 1_001].map((count) =>
      spoiltLatest(
        `${count} codes`,
        (good) => {
          const more = codes(17_500).filter((code) => !(code in good.rates))
          const added = more.slice(0, count - Object.keys(good.rates).length)
          const rates = { ...good.rates, ...Object.fromEntries(added.map((code) => [code, 1.5])) }
          return { ...good, rates }
        },
        { told: REJECTED },
      ),
    ),
  },
]

function unreadable(name: string, inject: Inject): Variant {
  return failing(name, inject, { dataSets: BOTH })
}

function readable(name: string, change: (good: string) => string): Variant {
  return { name, dataSets: BOTH, verdict: 'accepted', inject: rewritten(change) }
}

/** A form in which some keys come before the good ones, and are left out. */
function withKeys(name: string, keys: string, dataSets: Variant['dataSets'] = BOTH): Variant {
  return {
    ...readable(name, (good) => good.replace('"rates":{', `"rates":{${keys},`)),
    dataSets,
    meanwhile: () => expect(Object('')).not.toHaveProperty('polluted'),
  }
}

/** A form in which the body would never fit. */
function endless(name: string, inject: Inject): Variant {
  return failing(name, inject, {
    dataSets: BOTH,
    meanwhile({ state, dataSet }: Meeting) {
      if (state === 'fresh') return
      const poured = tap.bodies.at(-1)
      expect(poured?.isCancelled).toBe(true)
      expect(poured?.pulled).toBeLessThanOrEqual(CAP[dataSet] + CHUNK)
    },
  })
}
