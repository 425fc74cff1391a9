import { makeExplorerPage } from './explorer-page.ts'
import { makeOpenApi } from './openapi.ts'

/** The text of every file of `src/generated/`, by its name there. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    'explorer-page.ts': await makeExplorerPage(),
    'openapi.json': await makeOpenApi(),
  }
}
