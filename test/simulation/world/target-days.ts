const DAY = 86_400_000

/** The day of `instant` (ms since the Unix epoch) in UTC, as `YYYY-MM-DD`. */
export function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

/** Every day from `first` to `last` on which the central bank publishes: no weekends, none of its six holidays. */
export function targetDays(first: string, last: string): string[] {
  const days: string[] = []
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY) {
    const weekday = new Date(at).getUTCDay()
    const day = dayOf(at)
    if (weekday !== 0 && weekday !== 6 && !isHoliday(day)) days.push(day)
  }
  return days
}

/** 16:00 in Frankfurt on `day`, in ms since the Unix epoch. */
export function fourOClock(day: string): number {
  return hourInFrankfurt(day, 16)
}

/** `hour` o'clock (8 to 22) in Frankfurt on `day`, in ms since the Unix epoch. */
export function hourInFrankfurt(day: string, hour: number): number {
  const noon = Date.parse(`${day}T12:00:00Z`)
  const ahead = Number(FRANKFURT.format(noon)) - 12
  return noon + (hour - 12 - ahead) * 3_600_000
}

const FRANKFURT = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin',
  hour: '2-digit',
  hourCycle: 'h23',
})

function isHoliday(day: string): boolean {
  if (/-(01-01|05-01|12-25|12-26)$/.test(day)) return true
  const easter = easterSunday(Number(day.slice(0, 4)))
  return day === dayOf(easter - 2 * DAY) || day === dayOf(easter + DAY)
}

/** By the method of J.-M. Oudin, 1940. In ms since the Unix epoch. */
function easterSunday(year: number): number {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const h =
    (century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 19 * golden + 15) %
    30
  const correction = Math.floor(29 / (h + 1)) * Math.floor((21 - golden) / 11)
  const moon = h - Math.floor(h / 28) * (1 - correction)
  const weekday = (year + Math.floor(year / 4) + moon + 2 - century + Math.floor(century / 4)) % 7
  const offset = moon - weekday
  const month = 3 + Math.floor((offset + 40) / 44)
  return Date.UTC(year, month - 1, offset + 28 - 31 * Math.floor(month / 4))
}
