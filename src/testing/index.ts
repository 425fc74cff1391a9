export { fakeProviders } from './fake-providers.ts'
export type { FakeProviders, FakeProvidersOptions } from './fake-providers.ts'
