// Scrapes metrics twice and ends: nothing that measures may keep the process alive.
import { createRatesHandler } from '../../src/index.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'

const metrics = createMetrics(createRatesHandler({ providers: fakeProviders() }))
metrics.text()
process.stdout.write(`${/^ratesmith_event_loop_delay_seconds \d/m.test(metrics.text())}\n`)
