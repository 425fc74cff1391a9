import type { Random } from './random.ts'

/** One publication of latest rates against the dollar. Times in ms since the Unix epoch, whole seconds. */
export interface Publication {
  readonly updatedAt: number
  /** As announced; it comes by then, unless it is late. */
  readonly nextUpdateAt: number
  readonly rates: Readonly<Record<string, number>>
}

/** The truth about latest rates: a table a day, shortly after midnight UTC. */
export interface LatestFeed {
  /** The newest publication that can be fetched at `instant`, or the one `back` days before it. */
  at(instant: number, back?: number): Publication
  /** When the publication after the one of `instant` is announced for. */
  nextAnnounced(instant: number): number
}

/** What a feed is like. */
export interface LatestFeedOptions {
  random: Random
  /** Ms since the Unix epoch. */
  startsAt: number
  /** The share of publications that come up to three hours late, before so many ms after the start. */
  lateShare: number
  calmFrom: number
}

const DAY = 86_400_000
const SECOND = 1_000

/** Units for a dollar on the first day; enough codes that one in twenty may be bad. */
const FIRST_RATES: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'USD 1,AED 3.6725,AUD 1.5124,BRL 5.4321,CAD 1.3712,CHF 0.81234,CLP 951.23,CNY 7.1821,COP 4021.5',
    'CZK 21.083,DKK 6.4321,EGP 48.512,EUR 0.86123,GBP 0.74321,HKD 7.8012,HUF 345.21,IDR 16432',
    'ILS 3.4123,INR 87.512,JPY 151.23,KRW 1398.2,KWD 0.30612,MXN 18.712,NOK 10.123,NZD 1.7012',
    'PLN 3.6712,SEK 9.4512,SGD 1.2912,THB 32.512,TRY 41.512,UAH 41.872,ZAR 17.512',
  ].flatMap((line) =>
    line.split(',').map((quote): [string, number] => {
      const [code = '', rate] = quote.split(' ')
      return [code, Number(rate)]
    }),
  ),
)

/** The codes of the feed, in its order. */
export const LATEST_CODES: readonly string[] = Object.keys(FIRST_RATES)

/** A feed that had published for three days when the simulation starts. */
export function createLatestFeed(options: LatestFeedOptions): LatestFeed {
  const { random, startsAt, lateShare, calmFrom } = options
  const firstDay = Math.floor(startsAt / DAY) - 4
  const publications: (Publication & { availableAt: number })[] = []

  function publish(): void {
    const number = publications.length
    const nominal = (firstDay + number) * DAY + 151 * SECOND
    const isLate = nominal < startsAt + calmFrom && random.chance(lateShare)
    const delay = isLate ? random.magnitude(60 * SECOND, 3 * 3_600_000) : random.between(0, 45_000)
    publications.push({
      updatedAt: nominal,
      nextUpdateAt: nominal + DAY + random.whole(60, 1_200) * SECOND,
      availableAt: nominal + delay,
      rates: drift(publications.at(-1)?.rates ?? FIRST_RATES, random),
    })
  }

  function newest(instant: number): number {
    let number = Math.max(0, Math.floor(instant / DAY) - firstDay)
    while (publications.length <= number) publish()
    while (number > 0 && (publications[number]?.availableAt ?? Infinity) > instant) number -= 1
    return number
  }

  function at(instant: number, back = 0): Publication {
    const found = publications[Math.max(0, newest(instant) - back)]
    if (!found) throw new Error('nothing has been published yet')
    return found
  }

  return { at, nextAnnounced: (instant) => at(instant).nextUpdateAt }
}

/** `rates` a day later: nothing moves by more than 1 %. */
function drift(rates: Readonly<Record<string, number>>, random: Random): Record<string, number> {
  const later: Record<string, number> = {}
  for (const [code, rate] of Object.entries(rates)) {
    const moved = rate * (1 + random.between(-0.01, 0.01))
    later[code] = code === 'USD' ? 1 : Number(moved.toPrecision(6))
  }
  return later
}
