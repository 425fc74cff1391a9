// Before the tests: virtual clocks do not wait for a module that is loaded on demand.
await import('../src/sources/histories.ts')
await import('../src/upstream/sanity-checks.ts')

// Unit tests provide the responses of their upstreams; a test without them must not call the real ones.
globalThis.fetch = () => Promise.reject(new Error('unit tests have no network'))
