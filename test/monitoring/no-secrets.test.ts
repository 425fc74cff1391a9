import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createAccess, createKey } from '../../src/access/index.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createMetrics, withAccessLog, withRequestIds } from '../../src/monitoring/index.ts'
import { openService } from '../fixtures/service.ts'

const { key, hash } = await createKey()
const { key: unknown } = await createKey()

const ADDRESS = '192.0.2.77'

/** A key as clients may send it: with some characters percent-encoded, or in upper case. */
const sentKeys = fc
  .tuple(
    fc.constantFrom(key, unknown, `${key}x`, key.slice(0, -1)),
    fc.array(fc.nat(key.length - 1), { maxLength: 6 }),
    fc.boolean(),
  )
  .map(([text, encoded, isUpper]) => {
    const characters = Array.from(isUpper ? text.toUpperCase() : text, (character, index) =>
      encoded.includes(index) ? toPercent(character) : character,
    )
    return characters.join('')
  })

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`
}

const texts = fc.string({ maxLength: 20, unit: 'binary' }).map((text) => text.toWellFormed())

/** Where a key may stand in a request; the other text is anything. */
const requests = fc.record({
  target: fc
    .tuple(sentKeys, texts.map(encodeURIComponent))
    .chain(([sent, text]) =>
      fc.constantFrom(
        `/api/v1/latest?access_key=${sent}`,
        `/api/v1/latest?${text}=${sent}&${text}`,
        `/api/v1/latest?${text}&${sent}`,
        `/api/v1/latest?x=${text};y=${text}${sent}${text}`,
        `/api/v1/convert?from=USD&to=${sent}`,
        `/api/convert/5/EUR/${sent}`,
        `/api/historical/${sent}.json`,
        '/api/v1/latest',
      ),
    ),
  headers: fc.dictionary(
    fc.constantFrom(
      'user-agent',
      'referer',
      'x-request-id',
      'x-api-key',
      'authorization',
      'origin',
    ),
    fc
      .tuple(texts, sentKeys, texts)
      .chain(([before, sent, after]) =>
        fc.constantFrom(
          sent,
          `Bearer ${sent}`,
          `${before}${sent} ${after}`,
          `https://a.example/?k=${sent}#a`,
        ),
      ),
  ),
})

/** Returns `text` without escapes, as a reader of a log might decode it. */
function decoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** The random part of a key, in two halves: neither may remain. */
const SECRETS = [key, unknown].flatMap((each) => [each.slice(4, 16), each.slice(16, 30)])

describe('keys and addresses in any place', () => {
  it('are not in the access log, metrics and events', async () => {
    const lines: string[] = []
    const access = createAccess({
      plans: { free: { burst: '5/min' } },
      anonymous: 'free',
      keys: { find: (given) => (given === hash ? { id: 'k', plan: 'free' } : undefined) },
      queryParameters: ['access_key'],
    })
    const { handler, events } = openService({ access })
    await handler.refresh()
    const metrics = createMetrics(handler)
    const write = (line: string): void => void lines.push(line)
    const logged = withRequestIds(withAccessLog(openExchangeRates(handler), { write }))
    await fc.assert(
      fc.asyncProperty(requests, async ({ target, headers }) => {
        lines.length = 0
        const header = (name: string): string | undefined => Reflect.get(headers, name)
        const response = await logged.answer({ method: 'GET', target, header, client: ADDRESS })
        expect(lines).toHaveLength(1)
        const seen = [...lines, JSON.stringify(response.headers)].map(decoded).join('\n')
        for (const secret of SECRETS) {
          expect(seen.toLowerCase()).not.toContain(secret.toLowerCase())
        }
        expect(seen).not.toContain(ADDRESS)
      }),
      { numRuns: 300 },
    )
    const reported = decoded(metrics.text() + JSON.stringify(events)).toLowerCase()
    for (const secret of SECRETS) expect(reported).not.toContain(secret.toLowerCase())
    expect(reported).not.toContain(ADDRESS)
    expect(events.map(({ type }) => type)).toContain('limit_reached')
  })
})
