import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import config from '../../vitest.config.ts'
import { ROOT } from '../system/root.ts'

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The commands that a script of package.json stands for. */
export const SCRIPTS: Record<string, string> = manifest.scripts

/** The names of vitest's projects. */
const PROJECTS = (config.test?.projects ?? []).flatMap((project) => {
  const name = typeof project === 'object' && 'test' in project && project.test?.name
  return typeof name === 'string' ? name : []
})

/** What makes ready for others, and is no check itself. */
const PREPARATION = /^(npm ci|(sudo )?apt-get)( |$)/

/**
 * What a command line comes down to: scripts of npm and lists of commands taken apart, and one command for each project of
 * tests, however vitest is started on Node.
 */
export function leavesOf(line: string): string[] {
  return line.split(' && ').flatMap((command) => {
    if (PREPARATION.test(command)) return []
    const script = scriptOf(command)
    if (script !== undefined) return leavesOf(requireScript(script))
    const [, project] =
      /^(?:npx |node node_modules\/)?vitest(?:\S*\.mjs)? run --project (\S+)$/.exec(command) ?? [
        '',
        undefined,
      ]
    return project === undefined ? [command] : projectsOf(project)
  })
}

/** The script that a command runs, if that is all it does. */
export function scriptOf(command: string): string | undefined {
  if (command === 'npm test') return 'test'
  return /^npm run (?:--silent |-s )?([\w:-]+)$/.exec(command)?.[1]
}

function requireScript(name: string): string {
  const script = SCRIPTS[name]
  if (script === undefined) throw new Error(`package.json has no script ${name}`)
  return script
}

/** One command for each project that vitest's pattern takes: a name, or all but one. */
function projectsOf(pattern: string): string[] {
  const names = PROJECTS.filter((name) =>
    pattern.startsWith('!') ? name !== pattern.slice(1) : name === pattern,
  )
  if (names.length === 0) throw new Error(`vitest has no project ${pattern}`)
  return names.map((name) => `vitest run --project ${name}`)
}

/** What `.ci/run` runs, a line for each step; continued lines are joined. */
export function localCommands(): string[] {
  const text = readFileSync(join(ROOT, '.ci/run'), 'utf8').replace(/\\\n\s*/g, '')
  const steps = text.matchAll(/^\s*(?:\w+=\S+ )*step (.+)$/gm)
  return [...steps].map(([, command = '']) => command)
}
