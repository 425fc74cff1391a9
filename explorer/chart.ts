import type { RateHistory } from 'ratesmith/client'

import { historiesOf, whyNoHistory } from './api.ts'
import type { Api } from './page-api.ts'
import { comparedIn, createComparison } from './comparison.ts'
import type { createDayTable } from './day-table.ts'
import { createDrawing } from './drawing.ts'
import { find, make } from './dom.ts'
import { createDownload } from './download.ts'
import { changeInWords, formatRate } from './figures.ts'
import { createPanel } from './panel.ts'
import { isRetryable } from './retries.ts'
import { createRange, parametersOf } from './range.ts'
import { dayInWords } from './times.ts'
import type { Choices, Part, View } from './view.ts'

interface ChartEvents {
  change(to: Partial<View>): void
  /** Receives the history of the pair, or why there is none. */
  loaded(history: RateHistory | undefined, reason?: string): void
}

// oxlint-disable-next-line max-lines-per-function -- the wiring of the section.
export function createHistoryChart(api: Api, { change, loaded }: ChartEvents): Part {
  const section = find('#chart')
  const percent = find('#percent', HTMLInputElement)
  const range = createRange(section, change)
  const compare = createComparison(api, (codes) => change({ compare: codes }))
  const drawing = createDrawing()
  let days: ReturnType<typeof createDayTable> | undefined
  const none = createNone(api, loaded, (pair) => {
    change(pair)
    // The button disappears.
    percent.focus()
  })
  const download = createDownload(api)
  let histories: RateHistory[] = []
  let shown: [View, Choices] | undefined
  let isPercent = false
  const draw = (): void => {
    if (histories.length > 0) drawing.show(histories, isPercent)
  }
  api.onMore((more) => {
    more.createCrosshair(drawing)
    days = more.createDayTable()
    days.show(histories)
  })
  const panel = createPanel(section, api, {
    operation: 'history',
    failed: (error) => error && !isRetryable(error) && loaded(undefined),
    show(response) {
      histories = historiesOf(response)
      const [first] = histories
      if (!first) return
      showNewest(first)
      find('#stats').replaceChildren(...(histories.length === 1 ? statsOf(first) : []))
      draw()
      find('#days summary').textContent =
        `Show ${first.points.length} ${first.interval === 'week' ? 'weekly' : 'daily'} rates`
      days?.show(histories)
      range.showDays(first)
      if (shown) compare(...shown, histories)
      loaded(first)
    },
  })
  percent.addEventListener('change', () => change({ scale: percent.checked ? 'percent' : 'units' }))
  return {
    ...panel,
    show(view, choices) {
      shown = [view, choices]
      const { from, to, scale } = view
      const wanted = comparedIn(view)
      const compared = wanted.filter((code) => whyNoHistory(choices, from, code) === undefined)
      find('#pair').textContent = `${from} in ${[to, ...compared].join(', ')}`
      percent.checked = scale === '' ? wanted.length > 0 : scale === 'percent'
      if (percent.checked !== isPercent) {
        isPercent = percent.checked
        draw()
      }
      range.show(view)
      compare(view, choices, histories)
      if (!choices.areNamed) return
      const reason = whyNoHistory(choices, from, to)
      range.enable(reason === undefined)
      none.show(reason, choices, view)
      if (reason !== undefined) return panel.clear()
      const parameters = parametersOf(view, compared)
      download(parameters)
      panel.load(parameters)
    },
  }
}

/** Creates the text in the place of a chart, which names the peg of a currency that has one, and the offer of another pair. */
function createNone(
  api: Pick<Api, 'onMore' | 'needMore'>,
  loaded: ChartEvents['loaded'],
  choose: (pair: Pick<View, 'from' | 'to'>) => void,
) {
  const text = find('#none')
  const button = find('#instead', HTMLButtonElement)
  let offered: { from: string; to: string } | undefined
  let shown = ''
  button.addEventListener('click', () => offered && choose(offered))
  return {
    show(reason: string | undefined, choices: Choices, { from, to }: View): void {
      const isSame = shown === `${reason}${from}${to}`
      shown = `${reason}${from}${to}`
      const pairs = [from, 'EUR', 'USD'].flatMap((from) =>
        ['EUR', to, 'USD'].map((to) => ({ from, to })),
      )
      offered = pairs.find(
        (pair) => reason && pair.from !== pair.to && !whyNoHistory(choices, pair.from, pair.to),
      )
      button.hidden = !offered
      button.textContent = offered ? `Show ${offered.from} in ${offered.to} instead` : ''
      if (isSame) return
      text.textContent = reason ?? ''
      if (reason === undefined) return
      loaded(undefined, reason)
      api.needMore()
      api.onMore(({ pegInWords }) => {
        const pegs = [from, to].flatMap((code) => pegInWords(code) ?? [])
        // The pair may have changed since.
        if (pegs.length === 0 || shown !== `${reason}${from}${to}`) return
        text.append(...pegs.flatMap((peg) => [make('br', {}), peg]))
        loaded(undefined, pegs.join('; '))
      })
    },
  }
}

function showNewest({ points, to, interval }: RateHistory): void {
  const { d = '', r = 0 } = points.at(-1) ?? {}
  const reading = find('#reading')
  reading.textContent = formatRate(r)
  reading.title = String(r)
  find('#reading-unit').textContent = to
  find('#reading-day').textContent = dayInWords(d) + (interval ? ' · one rate per week' : '')
  find('#chart time').textContent = `Newest day: ${dayInWords(d)}`
}

/** Returns the statistics of one history, with exact values as titles. */
function statsOf({ stats }: RateHistory): HTMLElement[] {
  const { high, highDate, low, lowDate, average, changePct } = stats
  const { text, className } = changeInWords(changePct)
  const item = (term: string, dd: HTMLElement, ...more: HTMLElement[]): HTMLElement =>
    make('div', {}, make('dt', {}, term), dd, ...more)
  const exact = (rate: number) => make('dd', { title: String(rate) }, formatRate(rate))
  const day = (date: string) => make('dd', {}, dayInWords(date))
  return [
    item('High', exact(high), day(highDate)),
    item('Low', exact(low), day(lowDate)),
    item('Average', exact(average)),
    item('Change', make('dd', { className, title: `${changePct} %` }, text)),
  ]
}
