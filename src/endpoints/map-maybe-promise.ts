/** Applies `map` to `value`, synchronously if it is not a promise. */
export function mapMaybePromise<Value extends object, Result>(
  value: Value | Promise<Value>,
  map: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(map) : map(value)
}
