declare module 'cloudflare:workers' {
  /** The bindings of the Worker. */
  export const env: { RATES: import('ratesmith/stores/cloudflare-kv').KvNamespace }
  export function waitUntil(work: Promise<unknown>): void
}
