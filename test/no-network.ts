// Unit tests bring the answers of their upstreams along; one that forgets must not reach for the real ones.
globalThis.fetch = () => Promise.reject(new Error('unit tests have no network'))
