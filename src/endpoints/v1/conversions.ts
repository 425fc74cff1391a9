import type { Endpoint } from '../../http/endpoint.ts'
import { createQueryParser } from '../../http/query.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'
import type { Representation } from '../../http/representation.ts'
import { toDay } from '../../rates/day.ts'
import { conversionsRecord } from '../../records/conversions.ts'
import { NOT_OF_CONVERSIONS } from '../../records/mistaken-names.ts'
import { readConversionTable } from '../../records/conversion-table.ts'
import type { RateSources } from '../../sources/sources.ts'
import { conversionFailures, targets, truth } from '../conversion-parameters.ts'
import { amount, currency, date, format } from '../parameters.ts'

const parse = createQueryParser({
  parameters: { from: currency, to: targets, amount, date, reverse: truth, format },
  failures: conversionFailures,
  mistaken: NOT_OF_CONVERSIONS.advice,
  toQuestion: ({ amount: amountSent, format: form, ...question }) => {
    const value = amountSent === undefined ? undefined : Number(amountSent)
    return { question: { ...question, amount: value }, amountSent, form }
  },
})

const json = {
  representConversion(record: object, lastModified: number): Representation {
    return represent(JSON.stringify(record), deliveryHeaders({ lifetime: 'minute', lastModified }))
  },
}

/** `GET /api/v1/convert`, where it asks for more than `one` conversion at the latest rates in JSON. */
export function conversions(sources: RateSources, now: () => number, one: Endpoint): Endpoint {
  return async (query, waiter) => {
    const { question, amountSent, form } = parse(query)
    const { to, date: on, reverse } = question
    const isPlain = on === undefined && reverse === undefined && form === undefined
    if (isPlain && typeof to === 'string') return one(query, waiter)
    const { representConversion } = form === 'csv' ? await import('../csv.ts') : json
    const table = { codes: [question.from, to].flat(), date: on, today: toDay(now()) }
    const reading = await readConversionTable(sources, table, waiter)
    const record = conversionsRecord(reading.value, question, amountSent)
    const lastModified = Math.min(record.updatedAt, now())
    return { representation: representConversion(record, lastModified), reading }
  }
}
