type Labels = Readonly<Record<string, string>>

/** A metric with its current samples, named without the suffix of a counter. */
export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  /** The base unit, which is the end of the name. */
  unit?: 'seconds' | 'bytes'
  help: string
  samples: readonly Sample[]
}

export interface Sample {
  labels: Labels
  value: number | Histogram
}

export interface Histogram {
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[]
  /** Observations in each bucket, and above the last bound. */
  readonly counts: number[]
  sum: number
}

export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: [...bounds, Infinity].map(() => 0), sum: 0 }
}

export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
  counts[bucket] = (counts[bucket] ?? 0) + 1
  histogram.sum += value
}

export interface Series<Value> {
  /** Returns the value for `labels`; beyond the limit, the one whose labels are all `other`. */
  of(...labels: string[]): Value
  entries(): { labels: Labels; value: Value }[]
  samples(toValue: (value: Value) => Sample['value']): Sample[]
}

export function createSeries<Value>(
  names: readonly string[],
  limit: number,
  create: () => Value,
): Series<Value> {
  const series = new Map<string, { labels: Labels; value: Value }>()
  const other = names.map(() => 'other')

  function of(...values: string[]): Value {
    const key = values.join('\n')
    const found = series.get(key)
    if (found) return found.value
    if (series.size >= limit && key !== other.join('\n')) return of(...other)
    const labels = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
    const value = create()
    series.set(key, { labels, value })
    return value
  }

  return {
    of,
    entries: () => [...series.values()],
    samples: (toValue) =>
      Array.from(series.values(), ({ labels, value }) => ({ labels, value: toValue(value) })),
  }
}

export function toOpenMetrics(families: readonly Family[]): string {
  return `${families.map(toLines).join('')}# EOF\n`
}

function toLines({ name, type, unit, help, samples }: Family): string {
  const lines = [`# TYPE ${name} ${type}`]
  if (unit) lines.push(`# UNIT ${name} ${unit}`)
  lines.push(`# HELP ${name} ${escape(help)}`)
  const suffix = type === 'counter' ? '_total' : ''
  for (const { labels, value } of samples) {
    if (typeof value === 'number') lines.push(line(`${name}${suffix}`, labels, value))
    else lines.push(...histogramLines(name, labels, value))
  }
  return `${lines.join('\n')}\n`
}

function histogramLines(name: string, labels: Labels, histogram: Histogram): string[] {
  const { bounds, counts, sum } = histogram
  let count = 0
  const buckets = counts.map((each, index) => {
    count += each
    return line(`${name}_bucket`, { ...labels, le: toBound(bounds[index] ?? Infinity) }, count)
  })
  return [...buckets, line(`${name}_count`, labels, count), line(`${name}_sum`, labels, sum)]
}

/** Returns the canonical form of a bucket's bound, which has a decimal point. */
function toBound(bound: number): string {
  if (bound === Infinity) return '+Inf'
  return Number.isInteger(bound) ? `${bound}.0` : String(bound)
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

function escape(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
}
