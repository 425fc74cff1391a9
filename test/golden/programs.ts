import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Other runtimes that `npm run tools` has installed: the program, and its arguments before a path. */
export const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> =
  Object.fromEntries(
    [['bun'], ['deno', 'run', '-A', '--no-lock']].flatMap(
      ([name = '', ...flags]): [string, [string, ...string[]]][] => {
        const program = fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))
        return existsSync(program) ? [[name, [program, ...flags]]] : []
      },
    ),
  )
