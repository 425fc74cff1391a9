import { componentSchemas } from './components.ts'
import { errorResponses } from './error-responses.ts'
import { headerComponents } from './headers.ts'
import { operations, tags } from './operations.ts'
import { parameterComponents } from './parameters.ts'
import { describePath } from './paths.ts'
import { createSamples } from './samples.ts'

const DESCRIPTION = `Latest rates, conversion and history of currencies.

Codes are read in either case and answered in capitals. Instants are integers, ms since the Unix epoch. A known parameter that is repeated or misspelt is refused, and so is the name that another operation or a similar service uses for it; other unknown ones are ignored.

Every path also answers \`HEAD\`, like \`GET\` without the body, and \`OPTIONS\` with 204; any other method is 405 (\`method_not_allowed\`) with the same \`Allow\`. A path that is none of these is 404 (\`not_found\`). Both have the form of the other errors.

Where \`format\` is \`csv\`, the 200 is \`text/csv\`. OpenAPI cannot tie a media type to a parameter, and a generated client would have to narrow the type of every response: \`content\` has the JSON, and \`x-csv\` the Media Type Object of the CSV.

Every record names its source, which is to be shown wherever the rates are. Rates are mid-market reference rates, for information only; they are not an offer to exchange currency. By default latest rates come from ExchangeRate-API's open feed, whose terms ask for attribution and forbid redistribution, and history, like whatever is asked for a day, is the reference rates of the European Central Bank, by way of Frankfurter.

The examples are answers of a synthetic market.`

/** The OpenAPI document of the package's \`version\`. */
export async function createDocument(version: string): Promise<object> {
  const samples = await createSamples()
  const paths = operations.map(async (operation) => [
    operation.path,
    await describePath(operation, samples),
  ])
  return {
    openapi: '3.1.1',
    info: {
      title: 'ratesmith',
      version,
      summary: 'An exchange-rate API: latest rates, conversion and history.',
      description: DESCRIPTION,
      contact: { name: 'ratesmith', url: 'https://www.npmjs.com/package/ratesmith' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api', description: 'The base path at which the service is mounted.' }],
    // Neither is a key needed nor a login.
    security: [],
    tags,
    paths: Object.fromEntries(await Promise.all(paths)),
    components: {
      schemas: componentSchemas(),
      parameters: parameterComponents(),
      headers: headerComponents(),
      responses: await errorResponses(samples),
    },
  }
}
