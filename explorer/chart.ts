import type { RateHistory } from 'ratesmith/client'

import { historiesOf, pathOf } from './api.ts'
import type { HistoryCoverage } from './api.ts'
import type { Api } from './page-api.ts'
import { comparedIn, createComparison } from './comparison.ts'
import { createCrosshair } from './crosshair.ts'
import { createDayTable } from './day-table.ts'
import { dateInWords, find } from './dom.ts'
import type { Part, View } from './dom.ts'
import { createDownload } from './download.ts'
import { formatChange, formatRate } from './figures.ts'
import { createPanel } from './panel.ts'
import { createRange, parametersOf } from './range.ts'

// oxlint-disable-next-line max-lines-per-function -- the wiring of the section.
export function createHistoryChart(api: Api, change: (to: Partial<View>) => void): Part {
  const section = find('#chart')
  const percent = find('#percent', HTMLInputElement)
  const range = createRange(section, change)
  const comparison = createComparison(api, (compare) => change({ compare }))
  const crosshair = createCrosshair()
  const days = createDayTable()
  const none = createNone((pair) => {
    change(pair)
    // The button disappears.
    percent.focus()
  })
  const download = createDownload(api)
  let histories: RateHistory[] = []
  let isPercent = false
  const draw = (): void => {
    if (histories.length > 0) crosshair.show(histories, isPercent)
  }
  const panel = createPanel(section, api, {
    operation: 'history',
    show(response) {
      histories = historiesOf(response)
      const [first] = histories
      if (!first) return
      showStats(first)
      draw()
      days.show(histories)
      range.showDays(first)
      find('.age', HTMLElement, section).textContent =
        `Newest day: ${dateInWords(first.points.at(-1)?.d ?? '')}`
    },
  })
  percent.addEventListener('change', () => change({ scale: percent.checked ? 'percent' : 'units' }))
  return {
    ...panel,
    tick() {},
    show(view, choices) {
      const { from, to, scale } = view
      const { coverage } = choices
      const wanted = comparedIn(view)
      const compared = wanted.filter((code) => coverage?.whyNone(from, code) === undefined)
      find('#pair').textContent = `${from} in ${[to, ...compared].join(', ')}`
      percent.checked = scale === '' ? wanted.length > 0 : scale === 'percent'
      if (percent.checked !== isPercent) {
        isPercent = percent.checked
        draw()
      }
      range.show(view)
      comparison.show(view, choices)
      if (!coverage) return
      const reason = coverage.whyNone(from, to)
      range.enable(reason === undefined)
      none.show(reason, coverage, view)
      if (reason !== undefined) return panel.clear()
      const parameters = parametersOf(view, compared)
      download.show(pathOf(api.base, { operation: 'history', parameters }), parameters)
      panel.load(parameters)
    },
  }
}

function createNone(choose: (pair: Pick<View, 'from' | 'to'>) => void) {
  const text = find('#none')
  const button = find('#instead', HTMLButtonElement)
  let offered: { from: string; to: string } | undefined
  button.addEventListener('click', () => offered && choose(offered))
  return {
    show(reason: string | undefined, coverage: HistoryCoverage, { from, to }: View): void {
      text.textContent = reason ?? ''
      const pairs = [from, 'EUR', 'USD'].flatMap((from) =>
        ['EUR', to, 'USD'].map((to) => ({ from, to })),
      )
      offered = pairs.find(
        (pair) => reason && pair.from !== pair.to && !coverage.whyNone(pair.from, pair.to),
      )
      button.hidden = !offered
      button.textContent = offered ? `Show ${offered.from} in ${offered.to} instead` : ''
    },
  }
}

/** Shows the newest rate and the statistics, with exact values as titles. */
function showStats({ points, stats, to, interval }: RateHistory): void {
  const { high, highDate, low, lowDate, average, changePct } = stats
  const { d, r } = points.at(-1) ?? { d: '', r: 0 }
  const sign = changePct > 0 ? '▲ ' : changePct < 0 ? '▼ ' : ''
  const texts: Record<string, number | string> = {
    reading: r,
    high,
    low,
    average,
    'reading-unit': to,
    'reading-day': interval ? `${d} · one rate per week` : d,
    'high-date': highDate,
    'low-date': lowDate,
    change: sign + formatChange(changePct),
  }
  for (const [id, text] of Object.entries(texts)) {
    const element = find(`#${id}`)
    const isRate = typeof text === 'number'
    element.textContent = isRate ? formatRate(text) : text
    if (isRate) element.title = String(text)
  }
  const change = find('#change')
  change.title = `${changePct} %`
  change.className = sign && (changePct > 0 ? 'up' : 'down')
}
