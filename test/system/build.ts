import { execFileSync } from 'node:child_process'

/** Shared by the setups of all projects of a run, which are loaded separately. */
const IS_BUILT = 'RATESMITH_IS_BUILT'

/** Builds once per run of Vitest, before the first test that needs `dist`. */
export default function setup(): void {
  if (process.env[IS_BUILT]) return
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] })
  process.env[IS_BUILT] = 'yes'
}
