import { rememberLast } from '../http/remember-last.ts'
import { byteLength, deliveryHeaders, represent } from '../http/representation.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { convert } from '../records/conversion.ts'
import { asOld } from '../rates/carry-forward.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { RateSources } from '../sources/sources.ts'
import { parseConversion } from './parse-conversion.ts'
import { whenRead } from './when-read.ts'

/** An endpoint of conversions, whose records end with what `endOf` tells of the table that was used. */
export function conversionEndpoint(
  sources: RateSources,
  endOf: (snapshot: LatestSnapshot) => object,
): Endpoint {
  const commonOf = rememberLast((snapshot: LatestSnapshot) => {
    const { publishedAt: lastModified } = snapshot.table
    const end = JSON.stringify(endOf(snapshot)).slice(1)
    // All of a body but its end is ASCII.
    const moreBytes = byteLength(end) - end.length
    return { headers: deliveryHeaders({ lifetime: 'minute', lastModified }), end, moreBytes }
  })
  return (query, waiter) => {
    const { question, amountSent } = parseConversion(query)
    const codes = (): string[] => [question.from, question.to]
    return whenRead(sources.latest(waiter, codes), (reading) => {
      const { table } = reading.value
      const { from, to, amount, rate, result } = convert(table, question, amountSent)
      const used = table.older ? asOld(table, [from, to]) : table
      const snapshot = used === table ? reading.value : { ...reading.value, table: used }
      const { headers, end, moreBytes } = commonOf(snapshot)
      // Written afresh for every amount: to look for one that was before would take about as long.
      const body = `{"from":"${from}","to":"${to}","amount":${amount},"rate":${rate},"result":${result},${end}`
      return { representation: represent(body, headers, body.length + moreBytes), reading }
    })
  }
}
