/** What the doctor found about one thing. */
export interface CheckResult {
  /** What was looked at. */
  subject: string
  /** Whether it works. */
  ok: boolean
  /** What was seen. */
  found: string
  /** What to do; null where nothing is to be done. */
  advice: string | null
}
