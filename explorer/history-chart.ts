import type { RateHistory } from 'ratesmith/client'

import { dateInWords } from './ages.ts'
import { createCrosshair } from './crosshair.ts'
import { createDayTable } from './day-table.ts'
import { find } from './elements.ts'
import { createPanel } from './panel.ts'
import type { Part } from './part.ts'
import type { View } from './view.ts'

/** Creates the section with the rate history of the converter's currency pair. */
export function createHistoryChart(base: string, change: (to: Partial<View>) => void): Part {
  const section = find('#chart', HTMLElement)
  const periods = [...section.querySelectorAll<HTMLInputElement>('[name=period]')]
  const crosshair = createCrosshair()
  const days = createDayTable()
  const panel = createPanel<'history'>(section, base, {
    show(history) {
      showStats(history)
      crosshair.show(history)
      days.show(history)
      const newest = history.points.at(-1)?.d ?? ''
      find('.age', HTMLElement, section).textContent = `Newest day: ${dateInWords(newest)}`
    },
  })
  for (const radio of periods) {
    radio.addEventListener('change', () => change({ period: radio.value }))
  }
  return {
    ...panel,
    tick() {},
    show({ from, to, period }) {
      find('#pair', HTMLElement).textContent = `${from} in ${to}`
      for (const radio of periods) radio.checked = radio.value === period
      panel.load({ operation: 'history', parameters: { from, to, period } })
    },
  }
}

function showStats({ stats }: RateHistory): void {
  const { high, highDate, low, lowDate, average, changePct } = stats
  const sign = changePct > 0 ? '▲ +' : changePct < 0 ? '▼ −' : ''
  const texts = {
    high: String(high),
    'high-date': highDate,
    low: String(low),
    'low-date': lowDate,
    average: String(average),
    change: `${sign}${Math.abs(changePct)} %`,
  }
  for (const [id, text] of Object.entries(texts)) find(`#${id}`, HTMLElement).textContent = text
}
