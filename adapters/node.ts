export type { NodeRequest, NodeResponse } from './node/answer.ts'
export { toNodeHandler } from './node/handler.ts'
export { serve } from './node/serve.ts'
export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'
