/** The result of one check of `ratesmith doctor`. */
export interface CheckResult {
  /** The checked provider, store or part of the machine. */
  subject: string
  ok: boolean
  /** The observation: data, or the failure. */
  found: string
  /** How to fix the failure; null for a passed check. */
  advice: string | null
}
