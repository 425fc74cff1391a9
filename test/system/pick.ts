/** Returns the item at `index` (default a random one), cycling through the list. */
export function pick<T>(
  list: readonly T[],
  index: number = Math.floor(Math.random() * list.length),
): T {
  const picked = list[index % list.length]
  if (picked === undefined) throw new RangeError('cannot pick from an empty list')
  return picked
}
