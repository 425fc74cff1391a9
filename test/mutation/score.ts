import type { Mutant, Mutants } from './try-room.ts'

/** What became of some mutants. */
export interface Score {
  /** Those that a test noticed, or that never came to an end. */
  killed: number
  /** Those that no test noticed. */
  survived: number
  /** The share of the killed ones in percent; 100 where there are none. */
  percent: number
}

/** Counts what became of `mutants`; those with which the program does not even start are none. */
function scoreOf(mutants: readonly Mutant[]): Score {
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const survived = mutants.filter(isSurvivor).length
  const all = killed + survived
  return { killed, survived, percent: all === 0 ? 100 : (100 * killed) / all }
}

/** The score of a room, and of each of its files by their paths. */
export function scoresOf(name: string, mutants: Mutants): [name: string, Score][] {
  const files = [...mutants].map(([path, each]): [string, Score] => [path, scoreOf(each)])
  return [[name, scoreOf([...mutants.values()].flat())], ...files]
}

/** Every mutant that no test noticed, a line each: where it is, and what it has there instead. */
export function tellSurvivors(mutants: Mutants): string[] {
  return [...mutants].flatMap(([path, each]) =>
    each.filter(isSurvivor).map(({ location, mutatorName, replacement = '', status }) => {
      const { line, column } = location.start
      const instead = replacement.replaceAll(/\s+/g, ' ')
      return `${path}:${line}:${column} ${mutatorName} (${status}) ${instead}`
    }),
  )
}

function isSurvivor({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}
