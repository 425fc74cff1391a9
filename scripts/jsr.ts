import { writeFileSync } from 'node:fs'

import { ENTRY_POINTS, MANIFEST } from './entry-points.ts'

const { version, license, dependencies, devDependencies } = MANIFEST

/** The specifiers that the sources import, and their packages. Packages that are no dependencies are optional, or bundled for npm. */
const IMPORTS: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/server': '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio': '@modelcontextprotocol/server',
  '@rgrove/parse-xml': '@rgrove/parse-xml',
  '@whatwg-node/server': '@whatwg-node/server',
  fflate: 'fflate',
  'ipaddr.js': 'ipaddr.js',
  'itty-router/Router': 'itty-router',
  undici: 'undici',
  'zod/mini': 'zod',
}

/** The manifest for JSR, which needs a path for every entry point. */
export const JSR_MANIFEST = {
  name: '@ratesmith/ratesmith',
  version,
  license,
  exports: Object.fromEntries(ENTRY_POINTS.map(({ subpath, source }) => [subpath, `./${source}`])),
  imports: Object.fromEntries(
    Object.entries(IMPORTS).map(([specifier, name]) => {
      const range = dependencies[name] ?? `^${devDependencies[name]}`
      return [specifier, specifier.replace(name, `npm:${name}@${range}`)]
    }),
  ),
  publish: {
    include: [
      'src/**/*.ts',
      'src/generated/*.json',
      'adapters/**/*.ts',
      'docs/**/*.md',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
    ],
    exclude: ['src/cli'],
  },
}

if (import.meta.main) writeFileSync('jsr.json', `${JSON.stringify(JSR_MANIFEST, undefined, 2)}\n`)
