import { expect, it } from 'vitest'

import type { HistoryProvider, LatestProvider } from '../../src/index.ts'
import { crossCheck } from '../../src/providers/cross-check.ts'
import { createNorgesBankProvider } from '../../src/providers/norges-bank.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { FEEDS, fetchFromFeeds } from '../fixtures/feeds.ts'
import { NOW } from './upstream.ts'

const now = (): number => NOW

const context = { fetch: fetchFromFeeds, signal: new AbortController().signal, now }

const BANKS = Object.entries(FEEDS)
  .map(([name, { create }]): [string, Partial<LatestProvider> & Partial<HistoryProvider>] => [
    name,
    create(),
  ])
  .filter(([, { publication }]) => publication)

/** Months and quarters are compared with rates of weeks before. */
const TOLERANCE = 0.2

it.each(BANKS)('%s is a reference for another bank', async (_, reference) => {
  const { fetchHistory, attribution } = reference
  if (!fetchHistory || !attribution) throw new Error('the provider has no history')
  const checked = crossCheck(
    createNorgesBankProvider(),
    { ...reference, attribution, fetchHistory },
    { tolerance: TOLERANCE },
  )
  const { check } = await checked.fetchLatest(context)
  expect(check).toEqual({ reference: attribution.name, date: expect.any(String), deviations: [] })
})

const LATEST = BANKS.filter(([, { fetchLatest }]) => fetchLatest)

it.each(LATEST)('%s is compared with the European Central Bank', async (_, primary) => {
  const { fetchLatest, attribution } = primary
  if (!fetchLatest || !attribution) throw new Error('the provider has no latest rates')
  const ecb = fakeProviders({ now }).history
  const checked = crossCheck({ attribution, fetchLatest }, ecb)
  const { check } = await checked.fetchLatest(context)
  expect(check).toEqual({
    reference: ecb.attribution.name,
    date: '2026-11-20',
    deviations: [],
  })
})
