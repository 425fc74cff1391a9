type Labels = Readonly<Record<string, string>>

export interface Sample {
  labels: Labels
  /** Of a histogram, the sum of its observations. */
  value: number
  /** Observations by the upper bounds of their buckets, ascending up to `Infinity`. */
  buckets?: Map<number, number> | undefined
}

/** A metric with its current samples. */
export interface Family {
  type: 'counter' | 'gauge' | 'histogram'
  /** Without the prefix `ratesmith_` and the suffix of a counter; a unit is its end. */
  name: string
  help: string
  samples: readonly Sample[]
}

export interface Metric extends Family {
  /** Returns the sample with these labels; beyond the limit, the one whose labels are all `other`. */
  of(...labels: string[]): Sample
}

interface MetricOptions extends Pick<Family, 'name' | 'help'> {
  labels: readonly string[]
  /** The most combinations of labels (default unlimited). */
  limit?: number
  /** Of the buckets, if it is a histogram. */
  bounds?: readonly number[]
}

export function createMetric(options: MetricOptions): Metric {
  const { name, help, labels: names, limit = Infinity, bounds } = options
  const samples: Sample[] = []
  const byLabels = new Map<string, Sample>()
  const other = names.map(() => 'other')

  function of(...values: string[]): Sample {
    const key = values.join('\n')
    const found = byLabels.get(key)
    if (found) return found
    if (samples.length >= limit && key !== other.join('\n')) return of(...other)
    const labels = Object.fromEntries(names.map((label, index) => [label, values[index] ?? '']))
    const buckets = bounds && new Map([...bounds, Infinity].map((bound) => [bound, 0]))
    const sample = { labels, value: 0, buckets }
    byLabels.set(key, sample)
    samples.push(sample)
    return sample
  }

  return { type: bounds ? 'histogram' : 'counter', name, help, samples, of }
}

export function observe(sample: Sample, value: number): void {
  sample.value += value
  for (const [bound, count] of sample.buckets ?? []) {
    if (value <= bound) return void sample.buckets?.set(bound, count + 1)
  }
}

export function toOpenMetrics(families: readonly Family[]): string {
  return `${families.flatMap(toLines).join('\n')}\n# EOF\n`
}

function toLines({ type, name: ending, help, samples }: Family): string[] {
  const name = `ratesmith_${ending}`
  const [, unit] = /_(seconds|bytes)$/.exec(name) ?? []
  const lines = samples.flatMap(({ labels, value, buckets }) => {
    if (!buckets) return line(type === 'counter' ? `${name}_total` : name, labels, value)
    let count = 0
    const counts = Array.from(buckets, ([bound, each]) =>
      line(`${name}_bucket`, { ...labels, le: toBound(bound) }, (count += each)),
    )
    return [...counts, line(`${name}_count`, labels, count), line(`${name}_sum`, labels, value)]
  })
  const units = unit ? [`# UNIT ${name} ${unit}`] : []
  return [`# TYPE ${name} ${type}`, ...units, `# HELP ${name} ${help}`, ...lines]
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
