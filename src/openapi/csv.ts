const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}'
const RATE = '[0-9.e+-]+'
const INSTANT = '[0-9]+'

/** The last two cells of every line; a name may be quoted. */
const SOURCE = '[^\\r\\n]+'

/** The JSON Schema of CSV with a line of `names`, then lines whose cells match `cells`: any number, or at least one. */
function table(names: string, cells: readonly string[], count: '*' | '+'): object {
  const line = [...cells, SOURCE].join()
  return { type: 'string', pattern: `^${names},source,sourceUrl\\r\\n(${line}\\r\\n)${count}$` }
}

/** Rates as CSV. */
export const latestCsv: object = table(
  'base,code,rate,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, INSTANT, INSTANT],
  '*',
)

/** Rates of an earlier day as CSV. */
export const datedLatestCsv: object = table(
  'base,code,rate,date,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, DAY, INSTANT, INSTANT],
  '*',
)

/** A history as CSV. */
export const historyCsv: object = table(
  'from,to,date,rate',
  ['[A-Z]{3}', '[A-Z]{3}', DAY, RATE],
  '+',
)

/** Conversions as CSV, of each combination of `reverse` and `date`, which have their columns only where the query asks. */
export const conversionCsv: readonly object[] = [false, true].flatMap((isReverse) =>
  [false, true].map((isDated) => {
    const asked = { ...(isReverse && { reverse: 'true' }), ...(isDated && { date: DAY }) }
    const names = ['from,to,amount,rate,result', ...Object.keys(asked), 'updatedAt']
    const cells = ['[A-Z]{3}', '[A-Z]{3}', RATE, RATE, RATE, ...Object.values(asked), INSTANT]
    return table(names.join(), cells, '+')
  }),
)
