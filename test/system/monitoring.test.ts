import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HandlerListeners, RatesEvent } from '../../src/index.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { openPage } from '../release/documentation/page.ts'
import { requireProgram, run, temporaryFolder } from './processes.ts'

/** Python of the system, for which distributions package the parser; others may lack it. */
const PROMTOOL = '/usr/bin/promtool'

const PYTHONS = ['/usr/bin/python3', 'python3']

/** Prints the families in a file as a parser reads them; fails if it is not OpenMetrics text. */
const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = parse(open(sys.argv[1], encoding='utf-8', newline='').read())
print(json.dumps([
  {'name': f.name, 'type': f.type, 'unit': f.unit,
   'samples': [[s.name, s.labels, s.value] for s in f.samples]}
  for f in families]))
`

interface ParsedFamily {
  name: string
  type: string
  unit: string
  samples: [name: string, labels: Record<string, string>, value: number][]
}

/** Returns a Python with the parser of Prometheus' client; undefined where none has it. */
async function findParser(): Promise<string | undefined> {
  for (const python of PYTHONS) {
    const ran = await run(python, ['-c', 'import prometheus_client.openmetrics']).catch(() => null)
    if (ran?.code === 0) return python
  }
  return undefined
}

const python = await findParser()

async function parse(text: string, skip: (reason: string) => never): Promise<ParsedFamily[]> {
  if (python === undefined) {
    const reason = 'the Python package prometheus_client is not installed'
    if (process.env['CI']) throw new Error(reason)
    return skip(reason)
  }
  const file = join(temporaryFolder(), 'metrics.txt')
  writeFileSync(file, text)
  const { code, stdout, stderr } = await run(python, ['-c', PARSE, file])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Creates metrics of a handler after requests and events with hostile names. */
async function openMetrics() {
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
  const emit = (event: RatesEvent): void => listeners.forEach(({ onEvent }) => onEvent?.(event))
  return { metrics, emit }
}

const HOSTILE = [
  'a"b',
  'a\\b',
  'a\\"b\\\\',
  '\\n',
  'a,b="c"} 1',
  '# EOF',
  '{}',
  'é 漢 🙂',
  '\ud800',
  '',
  'a\nb',
  'a\r\nb',
  'a\u2028\u202eb',
  'x'.repeat(1_000),
]

describe('the metrics', () => {
  it('are OpenMetrics text for the parser of Prometheus', async ({ skip }) => {
    const { metrics } = await openMetrics()
    const families = await parse(metrics.text(), skip)
    const values = new Map(
      families.flatMap(({ samples }) =>
        samples.map(([name, labels, value]) => [
          `${name} ${Object.values(labels).join(' ')}`,
          value,
        ]),
      ),
    )
    expect(values.get('ratesmith_requests_total /v1/latest GET 200')).toBe(1)
    expect(values.get('ratesmith_requests_total /v1/convert GET 400')).toBe(1)
    expect(values.get('ratesmith_data_ready latest')).toBe(1)
    expect(values.get('ratesmith_request_duration_seconds_bucket /v1/latest +Inf')).toBe(1)
    expect(families.length).toBeGreaterThan(18)
    expect(new Set(families.map(({ name }) => name)).size).toBe(families.length)
    for (const { name, unit } of families) {
      const [suffix = ''] = /_(seconds|bytes)$/.exec(name) ?? []
      expect(unit, name).toBe(suffix.slice(1))
    }
  })

  it('have the names of providers and plans as they are, or on one line', async ({ skip }) => {
    const { metrics, emit } = await openMetrics()
    for (const name of HOSTILE) {
      emit({
        type: 'upstream_failed',
        dataSet: 'latest',
        provider: name,
        elapsed: 1,
        reason: '',
        error: 0,
      })
      emit({ type: 'limit_reached', plan: name, limit: name })
    }
    const families = await parse(metrics.text(), skip)
    const plans = families.find(({ name }) => name === 'ratesmith_limits_reached')?.samples ?? []
    const expected = HOSTILE.map((name) =>
      name
        .replace('\ud800', '\ufffd')
        .replace(/[\s\p{Cf}]+/gu, ' ')
        .replace(/^x{100,}$/, `${'x'.repeat(99)}…`),
    )
    const counted = plans.map(([, { plan }]) => plan)
    expect(counted).toEqual([...new Set(expected)])
    expect(plans.reduce((sum, [, , value]) => sum + value, 0)).toBe(HOSTILE.length)
  })
})

describe('the recipes for Prometheus', () => {
  const { blocks } = openPage('docs/public-api.md')

  function recipe(file: string): string {
    return blocks.find(({ lead }) => lead.includes(`in \`${file}\``))?.text ?? ''
  }

  it('are accepted by promtool', async ({ skip }) => {
    requireProgram('promtool', PROMTOOL, skip)
    const folder = temporaryFolder()
    const names = ['prometheus.yml', 'rates-alerts.yml']
    for (const name of names) writeFileSync(join(folder, name), recipe(name))
    const checked = await run(PROMTOOL, ['check', 'config', 'prometheus.yml'], { cwd: folder })
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('8 rules found') })
    expect(existsSync(join(folder, 'rates-alerts.yml'))).toBe(true)
  })
})
