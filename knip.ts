import { readFileSync } from 'node:fs'

import type { KnipConfig } from 'knip'

/** What `npm run tools` links into node_modules. */
const TOOLS: { dependencies: object; optionalDependencies: object } = JSON.parse(
  readFileSync('test/tools/package.json', 'utf8'),
)
const config: KnipConfig = {
  entry: [
    // Started by path: by people, by tests, or in a runtime other than the one that starts them.
    'bench/**/*-program.ts',
    'bench/start/*.mjs',
    'bench/wire/servers/*.ts',
    'examples/*.ts',
    'test/**/*-program.{ts,mjs}',
    'test/system/module-record.ts',
    '.size-limit.ts',
    // Bundled into a page, by path.
    'src/explorer/main.ts',
  ],
  vitest: { config: ['vitest.config.ts', 'test/mutation/vitest.config.ts'] },
  project: ['**/*.{ts,mjs}', '!test/apps/**'],
  ignoreBinaries: [
    // Programs of the machine: the first is looked for, the second installed by `.ci/run`, the third of every one but Windows.
    'wrk',
    'openssl',
    'mkfifo',
    // Installed by `npm run tools`.
    'attw',
    'knip',
    'publint',
    'size-limit',
    // Installed by `npm run tools`.
  ],
  ignoreDependencies: [
    ...Object.keys(TOOLS.dependencies),
    ...Object.keys(TOOLS.optionalDependencies),
    // Built into Cloudflare's runtime, and imported as `cloudflare:`.
    'cloudflare',
  ],
}

export default config
