const DAY_MS = 86_400_000

const STEPS: { months?: number; days?: number; label: (date: Date) => string }[] = [
  { days: 1, label: formatter({ day: 'numeric', month: 'short' }) },
  { days: 2, label: formatter({ day: 'numeric', month: 'short' }) },
  { days: 7, label: formatter({ day: 'numeric', month: 'short' }) },
  { days: 14, label: formatter({ day: 'numeric', month: 'short' }) },
  { months: 1, label: monthOrYear },
  { months: 2, label: monthOrYear },
  { months: 3, label: monthOrYear },
  { months: 6, label: monthOrYear },
  { months: 12, label: monthOrYear },
  { months: 24, label: monthOrYear },
]

/**
 * Returns at most `maxTicks` ticks for the days from `start` to `end` (ms since the Unix epoch, midnight in UTC): at equal
 * distances back from the end, or on the first days of months.
 */
export function dayTicks(
  start: number,
  end: number,
  maxTicks: number,
): { time: number; label: string }[] {
  for (const { months, days = 1, label } of STEPS) {
    const times = months === undefined ? daysBack(start, end, days) : firsts(start, end, months)
    if (times.length <= maxTicks)
      return times.map((time) => ({ time, label: label(new Date(time)) }))
  }
  return []
}

function daysBack(start: number, end: number, days: number): number[] {
  const count = Math.floor((end - start) / (days * DAY_MS)) + 1
  return Array.from({ length: count }, (_, index) => end - (count - 1 - index) * days * DAY_MS)
}

function firsts(start: number, end: number, months: number): number[] {
  const times: number[] = []
  const year = new Date(start).getUTCFullYear()
  for (let month = 0; Date.UTC(year, month) <= end; month += months) {
    if (Date.UTC(year, month) >= start) times.push(Date.UTC(year, month))
  }
  return times
}

function monthOrYear(date: Date): string {
  return date.getUTCMonth() === 0 ? String(date.getUTCFullYear()) : monthOf(date)
}

const monthOf = formatter({ month: 'short' })

function formatter(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
  return (date) => format.format(date)
}
