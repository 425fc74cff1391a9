export { fakeProviders } from './fake-providers.ts'
export type { FakeProviders, FakeProvidersOptions } from './fake-providers.ts'
export { storeContract } from './store-contract.ts'
export type { ContractCase } from './store-contract.ts'
