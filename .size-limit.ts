import type { BuildOptions } from 'esbuild'

/** For an app that runs anywhere, in modules. */
function portable(options: BuildOptions): BuildOptions {
  return { ...options, format: 'esm', platform: 'neutral', target: 'es2022', logLevel: 'error' }
}

/** The same without what is loaded only when it is asked for. */
function atStart(options: BuildOptions): BuildOptions {
  const withoutLazyParts: NonNullable<BuildOptions['plugins']>[number] = {
    name: 'without-lazy-parts',
    setup(build) {
      build.onResolve({ filter: /./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      )
    },
  }
  return { ...portable(options), plugins: [withoutLazyParts] }
}

/** What parts of the build may weigh, minified and compressed by gzip, with all that they depend on. */
export default [
  {
    name: 'the handler, as an app loads it',
    path: 'dist/index.js',
    import: '{ createRatesHandler }',
    modifyEsbuildConfig: atStart,
    gzip: true,
    limit: '29.3 kB',
  },
  {
    name: 'the client',
    path: 'dist/client.js',
    import: '*',
    modifyEsbuildConfig: portable,
    gzip: true,
    limit: '2 kB',
  },
  {
    name: 'the explorer page',
    path: 'dist/explorer-page-*.js',
    disablePlugins: ['@size-limit/esbuild'],
    gzip: true,
    limit: '20 kB',
  },
]
