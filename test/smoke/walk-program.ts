// Prints how many files of the sources run code for a repeated conversion, a new one, and a refresh of both data sets, by the
// precise coverage of V8.
import { Session } from 'node:inspector/promises'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'

const session = new Session()
session.connect()
await session.post('Profiler.enable')

async function filesOf(work: () => unknown): Promise<number> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const run = result.filter(
    ({ url, functions }) =>
      /\/src\/.*\.ts$/.test(url) &&
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]?.count),
  )
  return run.length
}

const handler = createRatesHandler({ providers: fakeProviders(), store: new Map() })

const convert = (amount: number) =>
  handler.answer({
    method: 'GET',
    target: `/api/v1/convert?from=USD&to=EUR&amount=${amount}`,
    header: () => undefined,
  })

for (const amount of [1, 1, 1]) await convert(amount)
const repeated = await filesOf(() => convert(1))
const computed = await filesOf(() => convert(2))
const fresh = createRatesHandler({ providers: fakeProviders(), store: new Map() })
const refresh = await filesOf(() => fresh.rates.refresh())
process.stdout.write(JSON.stringify({ repeated, computed, refresh }))
process.exit()
