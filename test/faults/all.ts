import { history } from './history.ts'
import { http } from './http.ts'
import { body, schema, time, values } from './latest.ts'
import { sharedStore, store } from './store.ts'
import { transport } from './transport.ts'

export const UPSTREAM_FAULTS = [transport, http, body, schema, values, time, history].flat()

/** Faults of a store; the second list only of one that processes share. */
export { store as STORE_FAULTS, sharedStore as SHARED_STORE_FAULTS }
