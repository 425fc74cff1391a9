import { readdirSync } from 'node:fs'

/** A function that a provider's module exports. */
export type Create = (options: object) => unknown

/** Loads the modules of `src/providers`, by name. The build replaces this file with one import of each. */
export const MODULES: ReadonlyMap<string, () => Promise<Record<string, Create>>> = new Map(
  readdirSync(new URL('../providers', import.meta.url))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file.slice(0, -'.ts'.length), () => import(`../providers/${file}`)]),
)
