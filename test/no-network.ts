// Before the tests: virtual clocks do not wait for a module that is loaded on demand.
await Promise.all([
  import('../src/api/convert-many.ts'),
  import('../src/api/currencies.ts'),
  import('../src/api/days.ts'),
  import('../src/api/history-writer.ts'),
  import('../src/api/snapshot.ts'),
  import('../src/api/sources.ts'),
  import('../src/endpoints/convert-many.ts'),
  import('../src/endpoints/currencies.ts'),
  import('../src/endpoints/days.ts'),
  import('../src/endpoints/quotes.ts'),
  import('../src/http/body.ts'),
  import('../src/providers/ecb.ts'),
  import('../src/providers/ecb/unzip.ts'),
  import('../src/rates/moves.ts'),
  import('../src/sources/histories.ts'),
  import('../src/upstream/sanity-checks.ts'),
])

// Unit tests provide the responses of their upstreams; a test without them must not call the real ones.
globalThis.fetch = () => Promise.reject(new Error('unit tests have no network'))
