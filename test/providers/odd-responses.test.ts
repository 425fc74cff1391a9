import { describe, expect, it } from 'vitest'

import type { HistoryDays } from '../../src/index.ts'
import { BANK_FEEDS } from '../fixtures/banks.ts'
import { RANGE } from '../fixtures/feed.ts'
import type { Feed } from '../fixtures/feed.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { NOW, upstream } from './upstream.ts'

/** The feeds of banks that publish whole days. */
const BANKS = Object.entries(FEEDS).filter(
  ([name, { create }]) => name in BANK_FEEDS || create().publication,
)

/** Returns the quotes of a provider whose responses are changed, and what rejects the call. */
async function quotesOf(feed: Feed, change: (body: string, isFirst: boolean) => string) {
  let count = 0
  const { context } = upstream([])
  const provider = feed.create()
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init)
    const response = feed.respond?.(request.url, NOW, await request.text()) ?? Response.error()
    const isFirst = (count += 1) === 1
    return new Response(change(await response.text(), isFirst), { status: response.status })
  }
  const { frequency = 'daily' } = provider.publication ?? {}
  const isRare = frequency === 'monthly' || frequency === 'quarterly'
  const range = isRare ? { start: '2026-09-20', end: '2026-11-20' } : (feed.range ?? RANGE)
  const found: HistoryDays | undefined = await provider.fetchHistory?.(range, { ...context, fetch })
  if (!found) throw new Error('the provider has no history')
  return new Map(
    found.days.flatMap(({ date, rates, prices = {} }) =>
      [rates, prices].flatMap((quotes, index) =>
        Object.entries(quotes).map(([code, value]): [string, number] => {
          return [`${date} ${code} ${index}`, value]
        }),
      ),
    ),
  )
}

const PAGES: Record<string, string> = {
  'a page of HTML': '<!doctype html><html lang="en"><body><p>1 EUR = 1.1 USD</p></body></html>\n',
  'a page of XHTML':
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Back soon</p></body></html>\n',
  'a text': 'Service temporarily unavailable\n',
  'an object': '{"error":"not found"}\n',
  'another XML': '<?xml version="1.0"?><error><code>1</code></error>\n',
  'a table of something else': 'id,name\n1,EUR\n',
  'an entity bomb': '<!DOCTYPE lolz [<!ENTITY lol "lol">]><ValCurs>&lol;</ValCurs>\n',
  nothing: '',
  'white space': '\n\n',
}

const CUTS = 24

describe.each(BANKS)('%s', (_, feed) => {
  const whole = quotesOf(feed, (body) => body)

  it.each(Object.entries(PAGES))('rejects %s with the status 200', async (_what, page) => {
    await expect(quotesOf(feed, () => page)).rejects.toThrow(/./)
  })

  it('never has another number than the bank where a response is cut', async () => {
    const expected = await whole
    expect(expected.size).toBeGreaterThan(0)
    let rejected = 0
    for (let cut = 1; cut < CUTS; cut += 1) {
      const found = await quotesOf(feed, (body, isFirst) =>
        isFirst ? body.slice(0, Math.floor((body.length * cut) / CUTS)) : body,
      ).catch(() => undefined)
      if (!found) rejected += 1
      for (const [at, value] of found ?? []) expect([at, value]).toEqual([at, expected.get(at)])
    }
    // A table cut between two lines has fewer rows.
    expect(rejected).toBeGreaterThan(CUTS * 0.8)
  })

  it('reads a byte order mark or rejects it, and takes no decimal comma for something else', async () => {
    const expected = await whole
    const marked = await quotesOf(feed, (body) => `\u{FEFF}${body}`).catch(() => expected)
    expect(marked).toEqual(expected)
    const change = (body: string): string => body.replaceAll(/(\d)\.(\d)/g, '$1,$2')
    const other = await quotesOf(feed, change).catch(() => new Map<string, number>())
    const read = [...other].filter(([, value]) => !Number.isNaN(value))
    expect(read).toEqual(read.map(([at]) => [at, expected.get(at)]))
  })
})
