import { makeExplorerPage } from './explorer-page.ts'
import { makeOpenApi } from './openapi/text.ts'

/** Returns the text of every file in `src/generated/`, by file name. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    'explorer-page.ts': await makeExplorerPage(),
    'openapi.json': await makeOpenApi(),
  }
}
