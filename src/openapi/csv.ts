import * as z from 'zod/mini'

import { component } from './components.ts'

/** Rates as CSV. */
export const latestCsv = component(
  'LatestCsv',
  'A line for each rate, with the attribution; RFC 4180 with CR LF. The first line names the columns.',
  z
    .string()
    .check(
      z.regex(
        /^base,code,rate,updatedAt,nextUpdateAt,source,sourceUrl\r\n([A-Z]{3},[A-Z]{3},[0-9.e+-]+,[0-9]+,[0-9]+,[^\r\n]+\r\n)*$/,
      ),
    ),
)

/** Rates of an earlier day as CSV. */
export const datedLatestCsv = component(
  'DatedLatestCsv',
  'As `LatestCsv`, with the day on which the rates were published.',
  z
    .string()
    .check(
      z.regex(
        /^base,code,rate,date,updatedAt,nextUpdateAt,source,sourceUrl\r\n([A-Z]{3},[A-Z]{3},[0-9.e+-]+,[0-9]{4}-[0-9]{2}-[0-9]{2},[0-9]+,[0-9]+,[^\r\n]+\r\n)*$/,
      ),
    ),
)

/** A history as CSV. */
export const historyCsv = component(
  'HistoryCsv',
  'A line for each published day, with the attribution; RFC 4180 with CR LF. The first line names the columns.',
  z
    .string()
    .check(
      z.regex(
        /^from,to,date,rate,source,sourceUrl\r\n([A-Z]{3},[A-Z]{3},[0-9]{4}-[0-9]{2}-[0-9]{2},[0-9.e+-]+,[^\r\n]+\r\n)+$/,
      ),
    ),
)
