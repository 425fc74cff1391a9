export { toNodeHandler } from './node/handler.ts'
export type { NodeHandler } from './node/handler.ts'
export type {
  NodeRequest,
  NodeResponse,
  RequestSocket,
  RequestStream,
  ResponseSocket,
} from './node/messages.ts'
export { serve } from './node/serve.ts'
export { createUndiciFetch } from './node/undici-fetch.ts'
export type { UndiciFetchOptions } from './node/undici-options.ts'
export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'
