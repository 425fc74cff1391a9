import { execFileSync } from 'node:child_process'

/** Builds once, before the first test that runs what is built. */
export default function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] })
}
