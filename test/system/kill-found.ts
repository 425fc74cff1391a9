/** What a process finds in its store when it starts. */
export interface Found {
  /** When the latest rates were published, in ms since the Unix epoch; none where there are no rates. */
  latest?: number
  /** The newest day of the reference rates, in ms since the Unix epoch. */
  history?: number
  /** The number of the ballast; none where there is none. */
  ballast?: number
  /** What is wrong with what was found. */
  broken: string[]
}
