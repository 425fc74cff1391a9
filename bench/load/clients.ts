/** The tested Redis client libraries. */
export const CLIENTS = ['ioredis', 'redis'] as const

export type ClientName = (typeof CLIENTS)[number]
