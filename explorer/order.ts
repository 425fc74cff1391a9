export interface Row {
  code: string
  name: string
  /** Absent until a response. */
  rate?: number | undefined
  /** Change since the previous day, in percent; absent if unknown. */
  change?: number | undefined
}

const COLUMNS = ['code', 'rate', 'change'] as const

type Column = (typeof COLUMNS)[number]

/** Reads the order in an address, such as `rate` or `-rate` for falling rates; undefined for the usual order. */
export function parseSort(sort: string): { column: Column; isFalling: boolean } | undefined {
  const isFalling = sort.startsWith('-')
  const column = COLUMNS.find((each) => each === sort.slice(isFalling ? 1 : 0))
  return column && { column, isFalling }
}

/** Returns the order after a click on the head of `column`: rising, falling, usual. */
export function nextSort(sort: string, column: string): string {
  if (sort === column) return `-${column}`
  return sort === `-${column}` ? '' : column
}

/** Returns rows in the order `sort`; in the usual order, `favourites` are first. Rows without a change are last. */
export function sortRows(rows: readonly Row[], sort: string, favourites: readonly string[]): Row[] {
  const order = parseSort(sort)
  if (!order) {
    const rank = ({ code }: Row): number =>
      favourites.includes(code) ? favourites.indexOf(code) : favourites.length
    return rows.toSorted((one, other) => rank(one) - rank(other) || byCode(one, other))
  }
  const { column, isFalling } = order
  return rows.toSorted((one, other) => {
    const [left, right] = [one[column], other[column]]
    if (left === undefined || right === undefined) {
      return Number(left === undefined) - Number(right === undefined)
    }
    const isNumber = typeof left === 'number' && typeof right === 'number'
    const difference = isNumber ? left - right : byCode(one, other)
    return isFalling ? -difference : difference
  })
}

function byCode(one: Row, other: Row): number {
  return one.code < other.code ? -1 : 1
}
