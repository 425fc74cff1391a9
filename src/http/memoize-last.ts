/** Returns `make` with a cache of one result: it is called again only for another object. */
export function memoizeLast<From extends object, Made>(
  make: (from: From) => Made,
): (from: From) => Made {
  let last: { from: From; made: Made } | undefined
  return (from) => {
    if (last?.from !== from) last = { from, made: make(from) }
    return last.made
  }
}
