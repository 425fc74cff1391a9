// A straightforward implementation without regard for speed: a router, query validation, arithmetic, JSON; fetch-style, or with
// Express and its `response.json`.
import { createServerAdapter } from '@whatwg-node/server'
import express from 'express'
import { fakeProviders } from 'ratesmith/testing'
import { z } from 'zod'

import { settingsFromParent } from '../../../test/system/child.ts'
import { SEED, listen } from '../peer.ts'
import type { PeerSettings } from '../peer.ts'
import { loadIttyRouter } from './modules.ts'

const DISCLAIMER =
  'Mid-market reference rates for information only, not an offer to exchange currency.'

const { id }: PeerSettings = JSON.parse(settingsFromParent())
const { latest, history } = fakeProviders({ seed: SEED })
const context = { fetch, now: Date.now, signal: new AbortController().signal }
const { updatedAt, nextUpdateAt, rates } = await latest.fetchLatest(context)
const end = new Date().toISOString().slice(0, 10)
const { days: all } = await history.fetchHistory({ start: yearsBefore(end, 6), end }, context)
const start = yearsBefore(all.at(-1)?.date ?? end, 5)
const days = all
  .filter(({ date }) => date >= start)
  .map((day) => ({ date: day.date, rates: { EUR: 1, ...day.rates } }))
const source = latest.attribution

const code = z.string().length(3).toUpperCase()
const conversion = z.object({ from: code, to: code, amount: z.coerce.number().default(1) })
const table = z.object({ base: code.default('USD') })
const range = z.object({ from: code, to: code, period: z.literal('5Y') })

type Query = Record<string, unknown>

const OPERATIONS: Record<string, (query: Query) => object> = {
  convert(query) {
    const { from, to, amount } = conversion.parse(query)
    const rate = quote(rates, from, to)
    return { from, to, amount, rate, result: amount * rate, updatedAt, source }
  },
  latest(query) {
    const { base } = table.parse(query)
    const quotes: Record<string, number> = {}
    for (const to of Object.keys(rates)) quotes[to] = quote(rates, base, to)
    return { base, updatedAt, nextUpdateAt, rates: quotes, source, disclaimer: DISCLAIMER }
  },
  history(query) {
    const { from, to, period } = range.parse(query)
    const points = days.map((day) => ({ d: day.date, r: quote(day.rates, from, to) }))
    return { from, to, period, points, stats: statsOf(points), source }
  },
}

if (id === 'express-json') {
  const app = express()
  for (const [path, operation] of Object.entries(OPERATIONS)) {
    app.get(`/api/v1/${path}`, ({ query }, response) => void response.json(operation(query)))
  }
  await listen(app)
} else {
  const { AutoRouter } = await loadIttyRouter()
  // itty-router's own format would spread the request and fails on its null properties.
  const router = AutoRouter({ base: '/api/v1', format: (response) => response })
  for (const [path, operation] of Object.entries(OPERATIONS)) {
    router.get(`/${path}`, ({ url }) => Response.json(operation(queryOf(url))))
  }
  await listen(createServerAdapter(router.fetch))
}

function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams)
}

function quote(table: Readonly<Record<string, number>>, from: string, to: string): number {
  return Number(((table[to] ?? NaN) / (table[from] ?? NaN)).toPrecision(10))
}

function statsOf(points: readonly { d: string; r: number }[]): object {
  const quotes = points.map(({ r }) => r)
  const [open, close] = [quotes[0] ?? NaN, quotes.at(-1) ?? NaN]
  const [high, low] = [Math.max(...quotes), Math.min(...quotes)]
  return {
    open,
    close,
    high,
    low,
    changePct: Number(((close / open - 1) * 100).toFixed(4)),
    average: quotes.reduce((sum, each) => sum + each, 0) / quotes.length,
    highDate: points.find(({ r }) => r === high)?.d,
    lowDate: points.find(({ r }) => r === low)?.d,
  }
}

function yearsBefore(day: string, years: number): string {
  const date = new Date(day)
  date.setUTCFullYear(date.getUTCFullYear() - years)
  return date.toISOString().slice(0, 10)
}
