// Installs what some suites and commands need beyond `npm ci`: other runtimes, frameworks, browser drivers, compilers.
import { installOnce, linkPackages } from './packages.mjs'

const FOLDER = 'test/tools'

installOnce(FOLDER, 'Installing other runtimes, frameworks, compilers and drivers for the tests')
linkPackages(FOLDER)
