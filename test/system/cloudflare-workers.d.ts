declare module 'cloudflare:workers' {
  export const env: { RATES: import('ratesmith/stores/cloudflare-kv').KvNamespace }
  export function waitUntil(work: Promise<unknown>): void
}
