import type { CurrencyCoverage } from 'ratesmith/client'

import type { HistoryCoverage } from './api.ts'

/**
 * Returns the first element in `root` that matches `selector`.
 *
 * @throws {Error} without an element of that type
 */
export function find(selector: string): HTMLElement
export function find<T extends Element>(selector: string, type: new () => T, root?: ParentNode): T
export function find(
  selector: string,
  type: new () => Element = HTMLElement,
  root: ParentNode = document,
): Element {
  const element = root.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`)
  return element
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...content)
  return element
}

/** State of the page, all of it in its address, so that it can be shared and reloaded. Unset members are empty. */
export interface View {
  amount: string
  from: string
  to: string
  base: string
  period: string
  /** Comma-separated codes of further currencies in the chart. */
  compare: string
  /** First and last day of the history. */
  start: string
  end: string
  /** `percent` or `units`; unset, it is percent if currencies are compared. */
  scale: string
  sort: string
}

const START: View = {
  amount: '100',
  from: 'USD',
  to: 'EUR',
  base: 'USD',
  period: '3M',
  compare: '',
  start: '',
  end: '',
  scale: '',
  sort: '',
}

const CODES = 'from,to,base,compare'

/** Reads the view from the fragment of an address, without checks: the API reports invalid values. */
export function parseView(fragment: string): View {
  const view = { ...START }
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
  /** Absent until a response, or a failure. */
  coverage?: HistoryCoverage
}

export interface Part {
  /** Updates the controls to `view`, and sends a request if its parameters changed. */
  show(view: View, choices: Choices): void
  /** Updates texts that depend on the time `now`, in ms since the Unix epoch. */
  tick(now: number): void
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** An update is overdue only after this delay, because the server polls some minutes late. */
const GRACE_MS = 10 * MINUTE_MS

/** Formats a duration, in ms, as `3 hours`, rounded down to whole units. */
export function durationInWords(duration: number): string {
  if (duration < MINUTE_MS) return 'less than a minute'
  if (duration < HOUR_MS) return counted(Math.floor(duration / MINUTE_MS), 'minute')
  if (duration < 2 * DAY_MS) return counted(Math.floor(duration / HOUR_MS), 'hour')
  return counted(Math.floor(duration / DAY_MS), 'day')
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Formats the age of a publication at `now`. With a clock that is behind, it is less than a minute. */
export function ageInWords(updatedAt: number, now: number): string {
  return `Published ${durationInWords(now - updatedAt)} ago`
}

/** Formats the age of a publication at `now` and the time until the next one; all in ms since the Unix epoch. */
export function publicationInWords(
  { updatedAt, nextUpdateAt }: { updatedAt: number; nextUpdateAt: number },
  now: number,
): string {
  const age = ageInWords(updatedAt, now)
  const left = nextUpdateAt - now
  if (left > 0) return `${age}, next update expected in ${durationInWords(left)}`
  if (left > -GRACE_MS) return `${age}, next update due now`
  return `${age}, next update overdue by ${durationInWords(-left)}`
}

/** Formats a date, `YYYY-MM-DD`, with its day of the week. */
export function dateInWords(date: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' })
  return format.format(new Date(date))
}
