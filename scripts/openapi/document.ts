import { componentSchemas } from './components.ts'
import { errorResponses } from './error-responses.ts'
import { headerComponents } from './headers.ts'
import { operations, tags } from './operations.ts'
import { parameterComponents } from './parameters.ts'
import { describePath } from './paths.ts'
import { createSamples } from './samples.ts'

const DESCRIPTION = `Latest exchange rates, currency conversion and rate history.

Currency codes are case-insensitive in requests and upper-case in responses. Timestamps are integers in ms since the Unix epoch. A known parameter that is repeated or misspelled is rejected, and so is the name that another operation or a similar service uses for it; other unknown parameters are ignored.

Every path also supports \`HEAD\`, like \`GET\` without the body, and \`OPTIONS\`, which returns 204. Any other method returns 405 (\`method_not_allowed\`) with the same \`Allow\` header, and an unknown path returns 404 (\`not_found\`). Both have the format of the other errors.

With \`format=csv\`, the 200 response is \`text/csv\`. OpenAPI cannot tie a media type to a parameter, and with two media types generated clients would have to narrow the type of every response. Therefore \`content\` describes the JSON, and the extension \`x-csv\` has the Media Type Object of the CSV.

Every response with rates names their source, which must be shown with the rates. Rates are mid-market reference rates, for information only; they are not an offer to exchange currency. By default, latest rates come from ExchangeRate-API's open feed, whose terms require attribution and forbid redistribution. History and the rates of a given day are reference rates of the European Central Bank, via Frankfurter.

The examples have rates of a synthetic market.`

/** Creates the OpenAPI document for `version` of the package. */
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
      summary: 'Exchange-rate API: latest rates, conversion and history.',
      description: DESCRIPTION,
      contact: { name: 'ratesmith', url: 'https://www.npmjs.com/package/ratesmith' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api', description: 'Base path of the service.' }],
    // The API needs no key and no login.
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
