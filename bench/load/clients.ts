/** The client libraries that Redis is tried with. */
export const CLIENTS = ['ioredis', 'redis'] as const

/** One of them. */
export type ClientName = (typeof CLIENTS)[number]
