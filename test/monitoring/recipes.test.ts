import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createMetrics } from '../../src/monitoring/index.ts'
import { openService } from '../fixtures/service.ts'

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}

const PAGE = read('docs/monitoring.md')
const DASHBOARD = JSON.parse(read('docs/grafana-dashboard.json'))

const SUFFIXES: Record<string, string[]> = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum'],
}

/** The names of all samples that `createMetrics` may return. */
const SAMPLES = familiesOf(createMetrics(openService().handler).text()).flatMap(({ name, type }) =>
  (SUFFIXES[type] ?? []).map((suffix) => name + suffix),
)

function familiesOf(text: string): { name: string; type: string }[] {
  return Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => ({
    name,
    type,
  }))
}

function namesIn(text: string): string[] {
  return [...new Set(text.match(/\bratesmith_\w+/g))]
}

describe('the documentation of metrics', () => {
  const familyName = (sample: string): string => sample.replace(/_(total|bucket|count|sum)$/, '')
  const FAMILIES = [...new Set(SAMPLES.map(familyName))].toSorted()

  it('has a dashboard with all metrics, and no others', () => {
    const names = namesIn(JSON.stringify(DASHBOARD.panels))
    expect(names.filter((name) => !SAMPLES.includes(name))).toEqual([])
    expect([...new Set(names.map(familyName))].toSorted()).toEqual(FAMILIES)
  })

  it('has alerts with names of metrics, and a row for every metric', () => {
    const blocks = Array.from(PAGE.matchAll(/^```yaml\n([^]*?)^```$/gm), ([, text = '']) => text)
    const names = namesIn(blocks.join('\n'))
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((name) => !SAMPLES.includes(name))).toEqual([])
    const rows = PAGE.split('\n').filter((line) => line.startsWith('| `ratesmith_'))
    expect(namesIn(rows.join('\n')).map(familyName).toSorted()).toEqual(FAMILIES)
  })
})
