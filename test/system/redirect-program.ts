// Calls services at the given URLs with a key, and prints the codes of their errors.
import { RatesError, createRatesClient } from 'ratesmith/client'

const [, , key, ...baseUrls] = process.argv

const codes: unknown[] = []
for (const baseUrl of baseUrls) {
  const client = createRatesClient({ baseUrl, key, retries: 0 })
  await client.status().catch((error: unknown) => {
    codes.push(error instanceof RatesError ? error.code : error)
  })
}
process.stdout.write(JSON.stringify(codes))
