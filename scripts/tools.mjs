// Installs what some commands need beyond `npm ci`: with `lint`, the packages of `npm run check` alone; otherwise also other
// runtimes, frameworks, browser drivers and compilers; with `apps`, also the frameworks of the apps in
// test/release/frameworks.test.ts, which are not linked.
import { installOnce, linkPackages } from './packages.mjs'

const [part] = process.argv.slice(2)

install('test/lint', 'Installing what the linter and the types of the tests need')
if (part !== 'lint')
  install(
    'test/tools',
    'Installing other runtimes, frameworks, compilers and drivers for the tests',
  )
if (part === 'apps') installOnce('test/apps', 'Installing the frameworks of the test apps')

function install(folder, reason) {
  installOnce(folder, reason)
  linkPackages(folder)
}
