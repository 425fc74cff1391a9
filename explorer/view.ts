/** State of the page, all of it in its address, so that it can be shared and reloaded. */
export interface View {
  /** As typed. */
  amount: string
  from: string
  to: string
  /** Base of the table. */
  base: string
  /** Length of the history. */
  period: string
}

const START: View = { amount: '100', from: 'USD', to: 'EUR', base: 'USD', period: '3M' }

/** Reads the view from the fragment of an address, without checks: the API reports invalid values. */
export function parseView(fragment: string): View {
  const given = new URLSearchParams(fragment.replace(/^#/, ''))
  const code = (name: 'from' | 'to' | 'base'): string =>
    given.get(name)?.toUpperCase() ?? START[name]
  return {
    amount: given.get('amount') ?? START.amount,
    from: code('from'),
    to: code('to'),
    base: code('base'),
    period: given.get('period') ?? START.period,
  }
}

/** Returns the fragment of an address that shows `view`. */
export function fragmentOf(view: View): string {
  return `#${new URLSearchParams({ ...view }).toString()}`
}

/** Currencies to choose from. */
export interface Choices {
  codes: readonly string[]
  /** English names by code; some codes have none. */
  names: ReadonlyMap<string, string>
}

/** A section of the page. */
export interface Part {
  /** Updates the controls to `view`, and sends a request if its parameters changed. */
  show(view: View, choices: Choices): void
  /** Updates texts that depend on the time `now`, in ms since the Unix epoch. */
  tick(now: number): void
  /** Repeats the last request. */
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}
