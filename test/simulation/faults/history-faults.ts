import type { Exchange, UpstreamFault } from './upstream-fault.ts'

/** What goes wrong in the body of reference rates. */
export const HISTORY_FAULTS: readonly UpstreamFault[] = [
  text('history cut off', 'refuse', (whole) => whole.slice(0, whole.length * 0.7)),
  text('history of another form', 'refuse', () => '[{"date":"2026-01-05","rate":1.16}]'),
  text('history against another base', 'refuse', (whole) => whole.replace('"EUR"', '"USD"')),
  text('history for an amount of 100', 'refuse', (whole) => whole.replace('1.0', '100.0')),
  text('history without rates', 'refuse', (whole) => whole.replace(/,"rates":.*/, '}')),
  {
    name: 'history with bad rates',
    dataSets: ['history'],
    verdict: 'refuse',
    answer(exchange) {
      // A row before the days that were asked for is not looked at.
      if (!hasNewRow(exchange)) return exchange.sendHealthy()
      return exchange.send(exchange.text().replaceAll(/"(GBP|USD)":[\d.]+/g, '"$1":0'))
    },
  },
  text('empty history', 'take', (whole) => whole.replace(/"rates":.*/, '"rates":{}}')),
  text('unordered history', 'take', (whole) => altered(whole, (rows) => rows.toReversed())),
  text('history with a day twice', 'take', (whole) =>
    altered(whole, (rows) => [...rows.slice(-1), ...rows]),
  ),
  text('history with days that are none', 'take', (whole) =>
    altered(whole, (rows) => [
      '"2026-02-30":{"USD":9}',
      '"2026-1-5":{"USD":9}',
      '"__proto__":{"USD":9}',
      '"2999-01-04":{"USD":9}',
      ...rows,
    ]),
  ),
]

function text(
  name: string,
  verdict: UpstreamFault['verdict'],
  alter: (whole: string) => string,
): UpstreamFault {
  return {
    name,
    dataSets: ['history'],
    verdict,
    answer: (exchange) => exchange.send(alter(exchange.text())),
  }
}

/** `whole` with its rows altered, which have the form `"2026-01-05":{…}`. */
function altered(whole: string, alter: (rows: string[]) => string[]): string {
  const [head = '', body = ''] = whole.split('"rates":', 2)
  const rows = body.slice(1, -2).match(/"[^"]+":\{[^}]*\}/g) ?? []
  return `${head}"rates":{${alter([...rows]).join(',')}}}`
}

function hasNewRow(exchange: Exchange): boolean {
  const [, start = ''] = /(\d{4}-\d\d-\d\d)\.\./.exec(exchange.url.pathname) ?? []
  const dates = exchange.text().match(/\d{4}-\d\d-\d\d(?=":\{)/g) ?? []
  return dates.some((date) => date >= start)
}
