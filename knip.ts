import type { KnipConfig } from 'knip'

const config: KnipConfig = {
  entry: [
    // Started by path: by people, by tests, or in a runtime other than the one that starts them.
    'bench/**/*-program.ts',
    'bench/start/*.mjs',
    'bench/wire/servers/*.ts',
    'examples/*.ts',
    'test/**/*-program.ts',
    'test/system/module-record.ts',
    // Bundled into a page, by path.
    'src/explorer/main.ts',
    // Compiled against the installed package.
    'test/release/consumer.ts',
  ],
  vitest: { config: ['vitest.config.ts', 'test/mutation/vitest.config.ts'] },
  project: ['**/*.{ts,mjs}'],
  ignoreBinaries: [
    // Programs of the machine: the first is looked for, the second installed by `.ci/run`.
    'wrk',
    'openssl',
  ],
  ignoreDependencies: [
    // Started by path, with settings that are made for each run.
    '@stryker-mutator/core',
    '@stryker-mutator/vitest-runner',
    // Loaded by names that are not written where they are loaded, as their declarations need packages that are not here.
    'elysia',
    'express-4',
    'h3',
    'koa',
    'miniflare',
    // No package: what Cloudflare's runtime has built in goes by `cloudflare:`.
    'cloudflare',
  ],
}

export default config
