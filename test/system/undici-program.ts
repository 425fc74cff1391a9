// Requests rates from the real hosts, like an app behind a proxy. Prints the statuses, and the outcomes of the upstream
// calls.
import { createRatesHandler } from 'ratesmith'
import { createUndiciFetch } from 'ratesmith/undici'

import { reportToParent } from './child.ts'

const outcomes: string[] = []

const handler = createRatesHandler({
  fetch: await createUndiciFetch(),
  onEvent(event) {
    if (event.type === 'upstream_response') outcomes.push(`${event.dataSet} loaded`)
    if (event.type === 'upstream_failed') outcomes.push(`${event.dataSet} failed: ${event.reason}`)
  },
})

const statuses = []
for (const path of ['latest', 'history?from=USD&to=JPY']) {
  const { status } = await handler(new Request(`http://localhost/api/v1/${path}`))
  statuses.push(status)
}
reportToParent({ statuses, outcomes })
