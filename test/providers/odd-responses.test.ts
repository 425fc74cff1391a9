import { describe, expect, it } from 'vitest'

import type { HistoryDays } from '../../src/index.ts'
import { RANGE } from '../fixtures/feed.ts'
import type { Feed } from '../fixtures/feed.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { NOW, upstream } from './upstream.ts'

/** The feeds of banks that publish whole days. */
const BANKS = Object.entries(FEEDS).filter(([, { create }]) => create().publication)

/** Returns the days of a provider whose responses are changed. */
async function daysOf(
  feed: Feed,
  change: (body: string, isFirst: boolean) => string | Uint8Array<ArrayBuffer>,
): Promise<HistoryDays> {
  const bodies: Promise<string>[] = []
  const { context } = upstream([])
  const provider = feed.create()
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input instanceof Request ? input.url : input)
    const sent = typeof init.body === 'string' ? init.body : ''
    const response = feed.respond?.(url, NOW, sent) ?? Response.error()
    const body = response.text()
    const isFirst = bodies.push(body) === 1
    return new Response(change(await body, isFirst), { status: response.status })
  }
  const { publication } = provider
  const isRare = publication?.frequency === 'monthly' || publication?.frequency === 'quarterly'
  const range = isRare ? { start: '2026-09-20', end: '2026-11-20' } : (feed.range ?? RANGE)
  const days = await provider.fetchHistory?.(range, { ...context, fetch })
  if (!days) throw new Error('the provider has no history')
  return days
}

function quotesOf({ days }: HistoryDays): Map<string, number> {
  return new Map(
    days.flatMap(({ date, rates, prices = {} }) =>
      [rates, prices].flatMap((quotes, index) =>
        Object.entries(quotes).map(([code, value]): [string, number] => {
          return [`${date} ${code} ${index}`, value]
        }),
      ),
    ),
  )
}

const PAGES: Record<string, string> = {
  'a page of HTML':
    '<!doctype html><html lang="en"><head><title>Back soon</title></head><body><p>1 EUR = 1.1 USD</p></body></html>\n',
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

describe.each(BANKS)('%s', (_, feed) => {
  it.each(Object.entries(PAGES))('rejects %s with the status 200', async (_what, page) => {
    await expect(daysOf(feed, () => page)).rejects.toThrow(/./)
  })

  it('never has another number than the bank where a response is cut', async () => {
    const whole = quotesOf(await daysOf(feed, (body) => body))
    expect(whole.size).toBeGreaterThan(0)
    let rejected = 0
    const cuts = 60
    for (let cut = 1; cut < cuts; cut += 1) {
      const change = (body: string, isFirst: boolean): string =>
        isFirst ? body.slice(0, Math.floor((body.length * cut) / cuts)) : body
      const cutShort = await daysOf(feed, change).catch(() => undefined)
      if (!cutShort) rejected += 1
      for (const [at, value] of cutShort ? quotesOf(cutShort) : []) {
        expect([at, value]).toEqual([at, whole.get(at)])
      }
    }
    // A table cut between two lines has fewer rows.
    expect(rejected).toBeGreaterThan(cuts * 0.8)
  })

  it('reads a byte order mark, or rejects it', async () => {
    const whole = quotesOf(await daysOf(feed, (body) => body))
    const marked = await daysOf(feed, (body) => `\u{FEFF}${body}`).catch(() => undefined)
    expect(marked ? quotesOf(marked) : whole).toEqual(whole)
  })

  it('never takes a decimal comma for something else', async () => {
    const whole = quotesOf(await daysOf(feed, (body) => body))
    const change = (body: string): string => body.replaceAll(/(\d)\.(\d)/g, '$1,$2')
    const other = await daysOf(feed, change).catch(() => undefined)
    const read = [...(other ? quotesOf(other) : [])].filter(([, value]) => !Number.isNaN(value))
    expect(read).toEqual(read.map(([at]) => [at, whole.get(at)]))
  })
})
