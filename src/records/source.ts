import type { Attribution } from '../providers/provider.ts'

/** The attribution as it is shown. Only these two: a provider's own object may hold more, which is not for everybody. */
export function toSource({ name, url }: Attribution): Attribution {
  return { name, url }
}
