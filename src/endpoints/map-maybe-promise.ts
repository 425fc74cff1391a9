/** What `respond` makes of what is read: at once where that is there already. */
export function mapMaybePromise<Reading extends object, Made>(
  reading: Reading | Promise<Reading>,
  respond: (reading: Reading) => Made | Promise<Made>,
): Made | Promise<Made> {
  return reading instanceof Promise ? reading.then(respond) : respond(reading)
}
