// Loaded before a program: gives it PGlite in the place of pg.
import { registerHooks } from 'node:module'

const program = `import { PGlite } from '${import.meta.resolve('@electric-sql/pglite')}'
export default {
  Pool: class {
    database = new PGlite()
    query(text, values) { return this.database.query(text, values) }
    end() { return this.database.close() }
  },
}`
const url = `data:text/javascript,${encodeURIComponent(program)}`

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'pg' ? { url, shortCircuit: true } : next(specifier, context),
})
