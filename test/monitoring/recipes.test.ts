import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createMetrics } from '../../src/monitoring/index.ts'
import { openService } from '../fixtures/service.ts'

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}

const PAGE = read('docs/public-api.md')
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

interface Panel {
  title: string
  targets: { expr: string }[]
}

const PANELS: Panel[] = DASHBOARD.panels

describe('the dashboard', () => {
  it.each(PANELS)('$title has only names of metrics', ({ targets }) => {
    const names = targets.flatMap(({ expr }) => namesIn(expr))
    expect(names).not.toHaveLength(0)
    expect(names.filter((name) => !SAMPLES.includes(name))).toEqual([])
  })

  it('has a panel for every metric', () => {
    const shown = namesIn(JSON.stringify(PANELS)).map(familyName)
    expect(SAMPLES.map(familyName).filter((name) => !shown.includes(name))).toEqual([])
  })
})

function familyName(sample: string): string {
  return sample.replace(/_(total|bucket|count|sum)$/, '')
}

describe('the guide', () => {
  it('has alerts with names of metrics only', () => {
    const blocks = Array.from(PAGE.matchAll(/^```yaml\n([^]*?)^```$/gm), ([, text = '']) => text)
    const names = namesIn(blocks.join('\n'))
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((name) => !SAMPLES.includes(name))).toEqual([])
  })

  it('has a row for every metric', () => {
    const rows = PAGE.split('\n').filter((line) => line.startsWith('| `ratesmith_'))
    const documented = namesIn(rows.join('\n')).map(familyName)
    expect(documented.toSorted()).toEqual([...new Set(SAMPLES.map(familyName))].toSorted())
  })
})
