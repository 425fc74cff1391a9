import * as z from 'zod/mini'

const MOST_PATHS = 5

/** Rates as they came: each is checked behind the provider, where a few bad ones are tolerated. */
export const ratesAsTheyCame: z.ZodMiniType<Record<string, number>> = z.custom<
  Record<string, number>
>((rates) => typeof rates === 'object' && rates !== null)

/** Says that `host` answered with what its schema does not know, and where it differs. */
export function anotherForm(host: string, { issues }: z.core.$ZodError): Error {
  const paths = issues.slice(0, MOST_PATHS).map(({ path }) => path.join('.') || 'all of it')
  return new Error(`${host} answered in another form: ${paths.join(', ')}`)
}
