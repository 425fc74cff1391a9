// Installs the tools of some suites and commands beyond `npm ci`: other runtimes, frameworks, browser drivers,
// compilers. With `apps`, also the frameworks of the apps in test/release/frameworks.test.ts, which are not linked.
import { installOnce, linkPackages } from './packages.mjs'

const FOLDER = 'test/tools'

installOnce(FOLDER, 'Installing other runtimes, frameworks, compilers and drivers for the tests')
linkPackages(FOLDER)
if (process.argv[2] === 'apps')
  installOnce('test/apps', 'Installing the frameworks of the test apps')
