const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}'
const RATE = '[0-9.e+-]+'
const INSTANT = '[0-9]+'

const SOURCE = '[^\\r\\n]+'

/** Returns the JSON Schema of CSV with a header line of `names`, then any number of lines, or at least one, that match `cells`. */
function table(names: string, cells: readonly string[], count: '*' | '+'): object {
  const line = [...cells, SOURCE].join()
  return { type: 'string', pattern: `^${names},source,sourceUrl\\r\\n(${line}\\r\\n)${count}$` }
}

/** CSV of latest rates. */
export const latestCsv: object = table(
  'base,code,rate,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, INSTANT, INSTANT],
  '*',
)

/** CSV of the rates of an earlier day. */
export const datedLatestCsv: object = table(
  'base,code,rate,date,updatedAt,nextUpdateAt',
  ['[A-Z]{3}', '[A-Z]{3}', RATE, DAY, INSTANT, INSTANT],
  '*',
)

/** CSV of a history. */
export const historyCsv: object = table(
  'from,to,date,rate',
  ['[A-Z]{3}', '[A-Z]{3}', DAY, RATE],
  '+',
)

/** CSV of conversions, one schema per combination of `reverse` and `date`, which add a column each. */
export const conversionCsv: readonly object[] = [false, true].flatMap((isReverse) =>
  [false, true].map((isDated) => {
    const optional = { ...(isReverse && { reverse: 'true' }), ...(isDated && { date: DAY }) }
    const names = ['from,to,amount,rate,result', ...Object.keys(optional), 'updatedAt']
    const cells = ['[A-Z]{3}', '[A-Z]{3}', RATE, RATE, RATE, ...Object.values(optional), INSTANT]
    return table(names.join(), cells, '+')
  }),
)
