import type { Mutant, Mutants } from './run-area.ts'

export type Score = ReturnType<typeof scoreOf>

/** Returns the score of an area, followed by that of each of its files. */
export function scoresOf(
  name: string,
  mutants: Mutants,
): [area: [string, Score], ...files: [string, Score][]] {
  const files = [...mutants].map(([path, each]): [string, Score] => [path, scoreOf(each)])
  return [[name, scoreOf([...mutants.values()].flat())], ...files]
}

/** Returns one line for each mutant that no test noticed: its place and its replacement. */
export function survivorLines(mutants: Mutants): string[] {
  return [...mutants].flatMap(([path, each]) =>
    each.filter(isSurvivor).map(({ location, mutatorName, replacement = '', status }) => {
      const { line, column } = location.start
      const text = replacement.replaceAll(/\s+/g, ' ')
      return `${path}:${line}:${column} ${mutatorName} (${status}) ${text}`
    }),
  )
}

/** Counts mutants that a test noticed or not, and the former in percent; those that fail to load do not count. */
function scoreOf(mutants: readonly Mutant[]) {
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const survived = mutants.filter(isSurvivor).length
  const all = killed + survived
  return { killed, survived, percent: all === 0 ? 100 : (100 * killed) / all }
}

function isSurvivor({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}
