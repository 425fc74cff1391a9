/** One thing that a contract asks for. */
export interface ContractCase {
  /** What is done, as the name of a test. */
  name: string
  /** Tries it; rejects with an error that says what was expected. */
  run(): Promise<void>
}
