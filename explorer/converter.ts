import type { Conversion, RateHistory } from 'ratesmith/client'

import { createAmountField } from './amount-field.ts'
import { createCurrencyField } from './currency-field.ts'
import { createDayField } from './day-field.ts'
import { find, make } from './dom.ts'
import {
  changeInWords,
  formatAmount,
  formatRate,
  amountInWords,
  nameOfMany,
  withUsersSeparators,
} from './figures.ts'
import type { Api } from './page-api.ts'
import { createPanel } from './panel.ts'
import { sparkline } from './plot.ts'
import { isRetryable } from './retries.ts'
import { dayInWords, rateDayInWords, timeInWords } from './times.ts'
import { NO_CHOICES } from './view.ts'
import type { Choices, Part, View } from './view.ts'

const TYPING_DELAY_MS = 150

type Side = 'from' | 'to'

interface Shown extends Omit<Conversion, 'reverse'> {
  date?: string
  reverse?: boolean
  /** The day that was requested. */
  asked: string
}

interface Converter extends Part {
  /** Shows the history of the pair as a line, or why there is none. */
  trend(history: RateHistory | undefined, reason?: string): void
}

// oxlint-disable-next-line max-lines-per-function -- the wiring of the section.
export function createConverter(api: Api, change: (to: Partial<View>) => void): Converter {
  const section = find('#converter')
  const hint = find('#hint')
  const again = find('#today', HTMLButtonElement)
  let view: View | undefined
  let choices = NO_CHOICES
  let shown: Shown | undefined
  /** Why the amount is not one. */
  let problem: string | undefined
  const fields = { from: createField('from', '#amount'), to: createField('to', '#result') }
  const day = createDayField(find('#date', HTMLInputElement), (date) => change({ date }), 'today')
  const panel = createPanel(section, api, {
    operation: 'convert',
    show(conversion) {
      shown = { ...conversion, asked: view?.date ?? '' }
      showNumbers()
      showFacts(shown, choices)
    },
    failed(error) {
      if (error && !isRetryable(error)) shown = undefined
      if (error?.code === 'invalid_amount') given().amount.refuse()
      showNumbers()
      const known = error && conversionOf(view, shown)
      if (known) showFacts(known, choices)
    },
  })

  function createField(side: Side, selector: string) {
    /** Takes a currency; where it is that of the other side, both change places. */
    const pairWith = (code: string): Partial<View> => {
      const other = side === 'from' ? 'to' : 'from'
      return { [side]: code, ...(view && code === view[other] && { [other]: view[side] }) }
    }
    const input = find(selector, HTMLInputElement)
    const amount = createAmountField(input, api, (text, code) =>
      change({
        amount: text,
        reverse: side === 'to' ? 'true' : '',
        ...(code !== undefined && pairWith(code)),
      }),
    )
    const currency = createCurrencyField(`#${side}`, api, (code) => {
      amount.forgetCurrency()
      change(pairWith(code))
    })
    return { amount, currency }
  }
  function given() {
    return fields[view?.reverse ? 'to' : 'from']
  }
  /** Shows the result of the last response, or of its rate where the amount has changed since. */
  function showNumbers(): void {
    if (!view) return
    const side = view.reverse ? 'from' : 'to'
    const digits = choices.currencies.get(view[side])?.minorUnits ?? undefined
    const { result } = (problem === undefined && conversionOf(view, shown)) || {}
    const text = result === undefined ? '' : withUsersSeparators(formatAmount(result, digits))
    fields[side].amount.showResult(text, view[side], choices)
  }

  find('#swap', HTMLButtonElement).addEventListener('click', () => {
    if (!view) return
    given().amount.forgetCurrency()
    change({ from: view.to, to: view.from })
  })
  again.addEventListener('click', () => {
    change({ date: '' })
    find('#date', HTMLInputElement).focus()
  })
  api.onMore(({ copyText }) => {
    find('#copy-exact').addEventListener('click', () => {
      void copyText(find('#exact'), find('#exact-state'))
    })
  })

  return {
    ...panel,
    trend: showTrend,
    show(next, known) {
      const isTyping = view !== undefined && view.amount !== next.amount
      const isNamed = known.currencies !== choices.currencies
      view = next
      choices = known
      const { amount, from, to, reverse, date } = next
      fields.from.currency.show(known, from)
      fields.to.currency.show(known, to)
      find('#names').textContent = `${nameOfMany(from)} to ${nameOfMany(to)}`
      day.show(date)
      again.hidden = date === ''
      problem = given().amount.showGiven(amount, reverse ? to : from, known)
      hint.textContent = problem ?? ''
      showNumbers()
      if (isNamed && shown) showFacts(shown, known)
      if (problem !== undefined || amount.trim() === '') return panel.clear()
      const parameters = {
        from,
        to,
        amount,
        ...(reverse && { reverse: 'true' }),
        ...(date && { date }),
      }
      panel.load(parameters, isTyping ? TYPING_DELAY_MS : 0)
    },
  }
}

/** Returns the conversion in `view`: the last response, or one with its rate where the amount has changed since. */
function conversionOf(view: View | undefined, shown: Shown | undefined): Shown | undefined {
  if (!view || view.amount === '' || shown?.from !== view.from || shown.to !== view.to)
    return undefined
  if (shown.asked !== view.date) return undefined
  const amount = Number(view.amount)
  const reverse = view.reverse !== ''
  if (shown.amount === amount && Boolean(shown.reverse) === reverse) return shown
  const result = reverse ? amount / shown.rate : amount * shown.rate
  return { ...shown, amount, reverse, result: Number(result.toPrecision(12)) }
}

function showFacts(shown: Shown, { currencies }: Choices): void {
  const { from, to, amount, rate, result, reverse, date, asked, updatedAt } = shown
  const digitsOf = (code: string) => currencies.get(code)?.minorUnits ?? undefined
  const [own, other] = reverse ? [result, amount] : [amount, result]
  const rounded = (value: number, code: string) =>
    `${formatAmount(value, digitsOf(code))} ${nameOfMany(code)}`
  find('#said').textContent = reverse
    ? `${rounded(own, from)} are ${amountInWords(other, to)}`
    : `${amountInWords(own, from)} are ${rounded(other, to)}`
  showRate('#rate', from, rate, to)
  showRate('#reciprocal', to, 1 / rate, from)
  const scale = 10 ** Math.floor(Math.log10(own || 100))
  const textsOf = (multiple: number): [string, string] => {
    const round = Number((multiple * scale).toPrecision(1))
    return [formatAmount(round, 0), formatAmount(round * rate, digitsOf(to))]
  }
  // One column of long results, or two: the height stays.
  const isLong = textsOf(50).join('').length > 15
  const multiples = isLong ? [1, 5, 10] : [0.5, 1, 2, 5, 10, 50]
  const rounds = multiples.map((multiple, index) => {
    const [round, value] = textsOf(multiple)
    const term = make('dt', {}, index === 0 ? `${round} ${from}` : round)
    return make('div', {}, term, make('dd', {}, value))
  })
  find('#rounds').replaceChildren(...rounds)
  find('#exact').textContent = String(result)
  find('#exact-state').textContent = ''
  find('#rule').textContent = date ? `Rate of ${rateDayInWords(date, asked)}` : ''
  find('#converter time').textContent = date
    ? `Reference rate of ${dayInWords(date)}`
    : `Published ${timeInWords(updatedAt)}`
}

/** Shows the rate of one unit, or of more where that of one would be many zeros; exact rates as titles. */
function showRate(selector: string, from: string, rate: number, to: string): void {
  let units = 1
  while (rate * units < 0.01 && units < 1e12) units *= 100
  const element = find(selector)
  element.textContent = `${formatAmount(units, 0)} ${from} = ${formatRate(rate * units)} ${to}`
  element.title = String(rate)
}

function showTrend(history: RateHistory | undefined, reason = ''): void {
  const [first] = history?.points ?? []
  const path = find('#trend path', SVGPathElement)
  path.setAttribute('d', history ? sparkline(history.points) : '')
  const since = find('#since')
  const change = history?.stats.changePct ?? 0
  since.className = changeInWords(change).className
  since.textContent = first ? `${changeInWords(change).text} since ${dayInWords(first.d)}` : reason
}
