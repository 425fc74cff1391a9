export type FakeRedis = ReturnType<typeof fakeRedis>

/** An empty in-process server; it accepts exactly the forms of `GET` and `SET` that a store should send. */
export function fakeRedis(now: () => number = Date.now) {
  const entries = new Map<string, { value: string; until: number }>()
  const commands: string[][] = []

  function find(key: string): string | undefined {
    const entry = entries.get(key)
    return entry && entry.until > now() ? entry.value : undefined
  }

  return {
    commands,
    /** Returns the result of a command; throws where a server would return an error. */
    run(command: string[]): string | null {
      commands.push(command)
      const [name, key = '', value = '', ...options] = command
      if (name === 'GET' && command.length === 2) return find(key) ?? null
      const [, onlyNew, life = ''] = /^(NX )?PX ([1-9]\d*)$/.exec(options.join(' ')) ?? []
      if (name !== 'SET' || life === '') throw new Error(`ERR ${command.join(' ').slice(0, 80)}`)
      if (onlyNew && find(key) !== undefined) return null
      entries.set(key, { value, until: now() + Number(life) })
      return 'OK'
    },
  }
}
