import type { Attribution } from '../providers/provider.ts'

/** Returns the public fields of an attribution; the object of a provider may have private ones. */
export function toSource({ name, url }: Attribution): Attribution {
  return { name, url }
}
