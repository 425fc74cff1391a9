declare module 'pg' {
  class Pool {
    constructor(options: { connectionString: string | undefined })
    query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
    end(): Promise<void>
  }
  const pg: { Pool: typeof Pool }
  export default pg
}
