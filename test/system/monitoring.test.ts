import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HandlerListeners } from '../../src/index.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { openPage } from '../release/documentation/page.ts'
import { requireProgram, run, temporaryFolder } from './processes.ts'

const PROMTOOL = '/usr/bin/promtool'

/** Prints the families in a file as a parser reads them; fails if it is not OpenMetrics text. */
const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = parse(open(sys.argv[1], encoding='utf-8', newline='').read())
print(json.dumps([
  {'name': f.name, 'unit': f.unit, 'samples': [[s.name, s.labels, s.value] for s in f.samples]}
  for f in families]))
`

interface ParsedFamily {
  name: string
  unit: string
  samples: [name: string, labels: Record<string, string>, value: number][]
}

const HOSTILE = [
  'a"b',
  'a\\b',
  'a\\"b\\\\',
  '\\n',
  'a,b="c"} 1',
  '# EOF',
  'é 漢 🙂',
  '\ud800',
  '',
  'a\r\nb',
  'a\u2028\u202eb',
  'x'.repeat(1_000),
]

it('the parser of Prometheus reads the metrics, also those of hostile names', async ({ skip }) => {
  // That of the system, for which distributions package the parser; others may lack it.
  let python: string | undefined
  for (const each of ['python3', '/usr/bin/python3']) {
    const ran = await run(each, ['-c', 'import prometheus_client.openmetrics']).catch(() => null)
    if (ran?.code === 0) python = each
  }
  const reason = 'the Python package prometheus_client is not installed'
  if (python === undefined && process.env['CI']) throw new Error(reason)
  const parser = python ?? skip(reason)
  const handler = createRatesHandler({ providers: fakeProviders() })
  const listeners: HandlerListeners[] = []
  const metrics = createMetrics({
    inspect: handler.inspect,
    subscribe(added) {
      listeners.push(added)
      return handler.subscribe(added)
    },
  })
  for (const path of ['/v1/latest', '/v1/convert?from=USD', '/v1/history?from=USD&to=EUR']) {
    await handler(new Request(`http://localhost/api${path}`))
  }
  for (const name of HOSTILE) {
    const failure = { dataSet: 'latest', provider: name, elapsed: 1, reason: '', error: 0 } as const
    for (const { onEvent } of listeners) {
      onEvent?.({ type: 'upstream_failed', ...failure })
      onEvent?.({ type: 'limit_reached', plan: name, limit: name })
    }
  }
  const file = join(temporaryFolder(), 'metrics.txt')
  writeFileSync(file, metrics.text())
  const { stdout, stderr } = await run(parser, ['-c', PARSE, file])
  expect(stderr).toBe('')
  const families: ParsedFamily[] = JSON.parse(stdout)
  const samples = families.flatMap((family) => family.samples)
  const values = new Map(
    samples.map(([name, labels, value]) => [`${name} ${Object.values(labels).join(' ')}`, value]),
  )
  expect(values.get('ratesmith_requests_total /v1/latest GET 200')).toBe(1)
  expect(values.get('ratesmith_requests_total /v1/convert GET 400')).toBe(1)
  expect(values.get('ratesmith_data_ready latest')).toBe(1)
  expect(values.get('ratesmith_request_duration_seconds_bucket /v1/latest +Inf')).toBe(1)
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length)
  for (const { name, unit } of families) {
    expect(unit, name).toBe(/(?<=_)(seconds|bytes)$/.exec(name)?.[0] ?? '')
  }
  const limits = samples.filter(([name]) => name === 'ratesmith_limits_reached_total')
  const expected = HOSTILE.map((name) =>
    name
      .replace('\ud800', '\ufffd')
      .replace(/[\s\p{Cf}]+/gu, ' ')
      .replace(/^x{100,}$/, `${'x'.repeat(99)}…`),
  )
  expect(limits.map(([, { plan }]) => plan)).toEqual([...new Set(expected)])
  expect(limits.reduce((sum, [, , value]) => sum + value, 0)).toBe(HOSTILE.length)
})

it('promtool accepts the recipes', async ({ skip }) => {
  requireProgram('promtool', PROMTOOL, skip)
  const { blocks } = openPage('docs/monitoring.md')
  const folder = temporaryFolder()
  for (const name of ['prometheus.yml', 'rates-alerts.yml']) {
    const recipe = blocks.find(({ lead }) => lead.includes(`in \`${name}\``))
    writeFileSync(join(folder, name), recipe?.text ?? '')
  }
  const checked = await run(PROMTOOL, ['check', 'config', 'prometheus.yml'], { cwd: folder })
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('8 rules found') })
})
