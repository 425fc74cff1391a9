// Ensures that the scripts of package.json run on a recent Node. If the machine's is too old, installs one for this
// folder: npm looks for programs in node_modules/.bin first. Runs after `npm ci`, and before `npm start` and `npm
// test`.
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT, installOnce } from './packages.mjs'

/** The first Node version that runs TypeScript without a flag. */
const NEEDED = [22, 18]

const found = process.versions.node
const [major, minor] = found.split('.').map(Number)
const isTooOld = major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])
if (isTooOld) {
  const sentence = `ratesmith needs Node ${NEEDED.join('.')} or newer to run from source, found ${found}`
  try {
    const { dependencies } = JSON.parse(
      readFileSync(join(ROOT, 'scripts/node/package.json'), 'utf8'),
    )
    installOnce('scripts/node', `${sentence}: installing Node ${dependencies.node} for this folder`)
    useInstalled()
  } catch (error) {
    process.stderr.write(`${sentence}. Install it from https://nodejs.org. (${error.message})\n`)
    process.exitCode = 1
  }
}

function useInstalled() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const installed = join(ROOT, 'scripts/node/node_modules/node')
  const program = join(installed, 'bin', name)
  const bin = join(ROOT, 'node_modules/.bin')
  // Removes headers and manuals: more than a third of the download.
  rmSync(join(installed, 'node_modules'), { recursive: true, force: true })
  if (!existsSync(program))
    throw new Error('npm did not run the install script of the package node')
  mkdirSync(bin, { recursive: true })
  rmSync(join(bin, name), { force: true })
  try {
    linkSync(program, join(bin, name))
  } catch {
    copyFileSync(program, join(bin, name))
  }
}
