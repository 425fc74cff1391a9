import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { createMetrics } from '../../src/monitoring/index.ts'
import { openService } from '../fixtures/service.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')

const SUFFIXES: Record<string, string[]> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum'],
}

/** The names of all metrics, and those of all samples that `createMetrics` may return. */
const FAMILIES = [
  ...createMetrics(openService().handler)
    .text()
    .matchAll(/^# TYPE (\S+) (\S+)$/gm),
].map(([, name = '', type = '']) => ({ name, samples: SUFFIXES[type]?.map((end) => name + end) }))
const SAMPLES = FAMILIES.flatMap(({ samples = [] }) => samples)

const namesIn = (text: string): string[] => [...new Set(text.match(/\bratesmith_\w+/g))]

it('the dashboard and the page on monitoring have all metrics, and alerts no others', () => {
  const shown = namesIn(JSON.stringify(JSON.parse(read('grafana-dashboard.json')).panels))
  const page = read('monitoring.md')
  const rows = namesIn(page.replaceAll(/^(?!\| `ratesmith_).*$/gm, ''))
  for (const { name, samples = [] } of FAMILIES) {
    expect(
      shown.some((each) => samples.includes(each)),
      name,
    ).toBe(true)
    expect(
      rows.some((each) => [name, ...samples].includes(each)),
      name,
    ).toBe(true)
  }
  const alerts = namesIn(Array.from(page.matchAll(/^```yaml\n([^]*?)^```$/gm)).join())
  expect(alerts.length).toBeGreaterThan(8)
  expect([...shown, ...alerts].filter((name) => !SAMPLES.includes(name))).toEqual([])
  expect(rows).toHaveLength(FAMILIES.length)
})
