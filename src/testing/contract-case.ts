/** A test case of a contract. */
export interface ContractCase {
  /** Name for the test. */
  name: string
  /** Runs the case; rejects with an error that states what was expected. */
  run(): Promise<void>
}
