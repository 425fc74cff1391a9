// Declares the used parts of packages whose own declarations do not compile without `skipLibCheck`.

interface H3 {
  get(path: string, respond: (event: { req: Request }) => Response | Promise<Response>): unknown
}

export function loadH3(): Promise<{
  H3: new () => H3
  serve(app: H3, options: object): { ready(): Promise<{ url?: string }> }
}> {
  return load('h3')
}

interface AutoRouter {
  get(path: string, respond: (request: { url: string }) => Response): AutoRouter
  fetch(request: Request): Promise<Response>
}

export function loadIttyRouter(): Promise<{
  AutoRouter(options: { base: string; format: (response: unknown) => unknown }): AutoRouter
}> {
  return load('itty-router')
}

/** Imports a module without the compiler following its name. */
function load<Module>(name: string): Promise<Module> {
  return import(name)
}
