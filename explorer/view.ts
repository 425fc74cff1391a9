import type { CurrencyCoverage } from 'ratesmith/client'

/** State of the page at its start. */
const START = {
  amount: '100',
  from: 'USD',
  to: 'EUR',
  /** `true` if the amount is one of `to`. */
  reverse: '',
  /** Day of the rate of the conversion; unset, it is the latest. */
  date: '',
  base: 'USD',
  period: '3M',
  /** Comma-separated codes of further currencies in the chart. */
  compare: '',
  /** First and last day of the history. */
  start: '',
  end: '',
  /** `percent` or `units`; unset, it is percent if currencies are compared. */
  scale: '',
  sort: '',
}

/** State of the page, all of it in its address, so that it can be shared and reloaded. Unset members are empty. */
export type View = typeof START

const CODES = 'from,to,base,compare'

/** Reads the view from the fragment of an address, without checks: the API reports invalid values. */
export function parseView(fragment: string): View {
  const view: View = { ...START }
  for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ''))) {
    if (isMember(name)) view[name] = CODES.includes(name) ? value.toUpperCase() : value
  }
  return view
}

function isMember(name: string): name is keyof View {
  return Object.hasOwn(START, name)
}

export function fragmentOf(view: View): string {
  const set = Object.entries(view).filter(([name, value]) => value !== '' || name === 'amount')
  return `#${new URLSearchParams(set).toString()}`
}

export interface Choices {
  codes: readonly string[]
  /** By code; empty until a response. */
  currencies: ReadonlyMap<string, CurrencyCoverage>
  /** Whether that response, or a failure, has arrived. */
  areNamed: boolean
}

export const NO_CHOICES: Choices = { codes: [], currencies: new Map(), areNamed: false }

export interface Part {
  /** Updates the controls to `view`, and sends a request if its parameters changed. */
  show(view: View, choices: Choices): void
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}
