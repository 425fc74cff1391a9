/** Which of the two data sets an event is about. */
export type DataSet = 'latest' | 'history'

/** Everything an operator may want to log or count. Private: an event may hold upstream texts and errors. */
export type RatesEvent =
  /** A provider is being asked. */
  | { type: 'upstream_asked'; dataSet: DataSet; provider: string }
  /** A provider answered with usable data; `elapsed` in ms. */
  | { type: 'upstream_answered'; dataSet: DataSet; provider: string; elapsed: number }
  /** A provider failed, or answered with unusable data; `elapsed` in ms. */
  | {
      type: 'upstream_failed'
      dataSet: DataSet
      provider: string
      elapsed: number
      reason: string
      error: unknown
    }
  /** Single rates or days were dropped from an answer that is good as a whole. */
  | { type: 'rates_dropped'; dataSet: DataSet; provider: string; dropped: string[] }
  /** A store operation failed or took too long; the request did not notice. */
  | { type: 'store_failed'; operation: 'get' | 'set'; key: string; error: unknown }
  /** A request was answered with 500. */
  | { type: 'internal_error'; error: unknown }

/** Tells an event to whoever listens; never throws. */
export type Emit = (event: RatesEvent) => void
