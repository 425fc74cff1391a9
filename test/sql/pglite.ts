import type { PostgresClient } from '../../src/sql/index.ts'
import { findPackage } from '../system/runtimes.ts'

/** Whether to skip tests that need PGlite. */
export const NO_PGLITE: boolean = !findPackage('@electric-sql/pglite')

/** Appended to the title of every suite that needs PGlite, so that a report shows why it was skipped. */
export const NEEDS_PGLITE = '(installed by npm run tools)'

interface Pglite extends PostgresClient {
  exec(text: string): Promise<unknown>
  close(): Promise<void>
}

/** Opens PostgreSQL in this process, with an empty database in memory. */
export async function openPglite(): Promise<Pglite> {
  // Its types need those of a compiler.
  const name: string = '@electric-sql/pglite'
  const { PGlite }: { PGlite: { create(): Promise<Pglite> } } = Object(await import(name))
  return PGlite.create()
}
