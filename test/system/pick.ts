/** The item at `index` (default a random one) of a list that begins anew after its end. */
export function pick<T>(
  list: readonly T[],
  index: number = Math.floor(Math.random() * list.length),
): T {
  const picked = list[index % list.length]
  if (picked === undefined) throw new RangeError('nothing to pick from')
  return picked
}
