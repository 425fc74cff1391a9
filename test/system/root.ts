import { fileURLToPath } from 'node:url'

/** The root of the project. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))
