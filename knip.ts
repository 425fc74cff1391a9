import { readFileSync } from 'node:fs'

import type { KnipConfig } from 'knip'

/** The packages that `npm run tools` links into node_modules. */
const TOOLS = ['test/lint', 'test/tools'].flatMap((folder) => {
  const manifest: { dependencies: object; optionalDependencies?: object } = JSON.parse(
    readFileSync(`${folder}/package.json`, 'utf8'),
  )
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
})
const config: KnipConfig = {
  // JSR requires that the union of codes refers to an exported type.
  ignoreIssues: { 'src/rates/iso-4217.ts': ['types'] },
  entry: [
    // Started by path: manually, by tests, or in another runtime.
    'bench/growth.ts',
    'bench/upstream-program.ts',
    'bench/wire/load.ts',
    'bench/start/*.mjs',
    'bench/wire/servers/*.ts',
    'examples/*.ts',
    'test/**/*-program.{ts,mjs}',
    'test/system/module-record.ts',
    '.size-limit.ts',
    // Bundled into a page, by path.
    'explorer/{main,theme,more}.ts',
    // Read by the generator of the site, or bundled into it.
    'site/.vitepress/{config.ts,theme/index.js}',
    'site/live/start-explorer.ts',
    'site/worker/main.ts',
  ],
  vitest: { config: ['vitest.config.ts', 'test/mutation/vitest.config.ts'] },
  project: ['**/*.{ts,mjs}', 'site/**/*.js', '!test/apps/**'],
  ignoreBinaries: [
    // Programs of the machine: the first is optional, the second is installed by `.ci/run`, the third exists everywhere except
    // on Windows.
    'taskset',
    'openssl',
    'mkfifo',
    // Installed by `npm run tools`.
    'attw',
    'knip',
    'publint',
    'size-limit',
  ],
  ignoreDependencies: [
    ...TOOLS,
    // Installed by `npm run site`, into its own folder.
    'openapi-explorer',
    'vitepress',
    'vue',
    // Imported by an example, with PGlite in its place.
    'pg',
    // Built into Cloudflare's runtime, and imported as `cloudflare:`.
    'cloudflare',
  ],
}

export default config
