import { Router } from 'itty-router/Router'
import { toRatesError } from '../../src/errors.ts'
import type { Route } from '../../src/http/routes.ts'
import type { RatesHandler } from '../../src/index.ts'

export function dispatch(handler: RatesHandler, routes: readonly Route[], now: () => number) {
  const router = Router()
  for (const route of routes) {
    router.get(route.path, async (request: any) => {
      try {
        const result = await route.get!(request, handler.rates, { now, run: async (work) => work() })
        return result instanceof Response ? result : Response.json(result)
      } catch (thrown) {
        const error = toRatesError(thrown)
        if (error.code === 'internal_error') console.log(thrown)
        const { body, status = error.status } = route.error!(error)
        return Response.json(body, { status })
      }
    })
  }
  return async (request: Request): Promise<Response> => (await router.fetch(request)) ?? handler(request)
}
