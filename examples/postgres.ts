// npm install ratesmith pg && npm pkg set type=module
// DATABASE_URL=postgres://app@127.0.0.1/shop node postgres.ts
//
// Makes a table of PostgreSQL equal to the published rates, each night, and values a payment in SQL.
import pg from 'pg'
import { createRates } from 'ratesmith'
import { syncRates } from 'ratesmith/sql'

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] })
const rates = createRates()
try {
  await rates.refresh()
  const { inserted, updated } = await syncRates(pool, { rates, since: '2026-01-01' })
  console.log(`${inserted} inserted, ${updated} updated`)
  const { rows } = await pool.query(
    `select $1 / rate as euros from rates
      where base = 'EUR' and quote = $2 and source = 'ecb' and date <= $3
      order by date desc limit 1`,
    ['99.90', 'USD', '2026-08-16'],
  )
  console.log(rows)
} finally {
  rates.close()
  await pool.end()
}
