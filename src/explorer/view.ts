/** What the page shows; all of it is in its address, so that it can be shared and reloaded. */
export interface View {
  /** As it was typed. */
  amount: string
  from: string
  to: string
  /** Base of the table. */
  base: string
  /** Length of the history. */
  period: string
}

const START: View = { amount: '100', from: 'USD', to: 'EUR', base: 'USD', period: '3M' }

/** What the fragment of an address asks for. Nothing is checked: the API says what is wrong. */
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

/** The fragment that asks for `view`. */
export function fragmentOf(view: View): string {
  return `#${new URLSearchParams({ ...view }).toString()}`
}
