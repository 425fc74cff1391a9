interface H3 {
  get(path: string, answer: () => Response): unknown
}

/** H3, by the little of it that is used: its own declarations do not compile without `skipLibCheck`. */
export function loadH3(): Promise<{
  H3: new () => H3
  serve(app: H3, options: object): { ready(): Promise<{ url?: string }> }
}> {
  const name: string = 'h3'
  return import(name)
}
