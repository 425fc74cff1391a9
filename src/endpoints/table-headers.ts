import type { Header } from '../http/answer.ts'
import { rememberLast } from '../http/remember-last.ts'
import { deliveryHeaders } from '../http/representation.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'

/** A function that gives the headers of all that is made of a table, which are put together once. */
export function createTableHeaders(): (snapshot: LatestSnapshot) => readonly Header[] {
  return rememberLast(({ table }: LatestSnapshot) =>
    deliveryHeaders({ lifetime: 'minute', updatedAt: table.updatedAt }),
  )
}
