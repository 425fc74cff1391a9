// What is used of packages whose own declarations do not compile without `skipLibCheck`.

interface H3 {
  get(path: string, answer: () => Response): unknown
}

export function loadH3(): Promise<{
  H3: new () => H3
  serve(app: H3, options: object): { ready(): Promise<{ url?: string }> }
}> {
  return load('h3')
}

interface AutoRouter {
  get(path: string, answer: (request: { url: string }) => Response): AutoRouter
  fetch(request: Request): Promise<Response>
}

export function loadIttyRouter(): Promise<{
  AutoRouter(options: { base: string; format: (answer: unknown) => unknown }): AutoRouter
}> {
  return load('itty-router')
}

/** A module by a name that the compiler does not follow. */
function load<Module>(name: string): Promise<Module> {
  return import(name)
}
