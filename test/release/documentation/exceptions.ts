import type { Block } from './page.ts'

/** Code of the pages that is not run, with the reason. */
export interface Exception {
  language: string
  /** Matches a line of `sh`, or a whole block of another language. */
  matches: RegExp
  reason: string
}

/** All exceptions. */
export const EXCEPTIONS: readonly Exception[] = [
  { language: 'sh', matches: /^npm (?:ci|run|start|test)\b/, reason: 'needs a clone' },
  { language: 'sh', matches: /^docker /, reason: 'needs Docker' },
  { language: 'sh', matches: /^npx openapi-typescript /, reason: 'is not installed here' },
  { language: 'sh', matches: /^npx wrangler /, reason: 'is not installed here; workerd is' },
  { language: 'ts', matches: /\bproxy\.example\b/, reason: 'needs a proxy: undici-fetch.test.ts' },
  { language: 'jsonc', matches: /"compatibility_date"/, reason: 'configures Wrangler' },
  { language: 'nginx', matches: /proxy_cache /, reason: 'is run by test/system/nginx.test.ts' },
]

/** Returns whether a line of `sh`, or a block of another language, is run. */
export function isFollowed({ language, text }: Pick<Block, 'language' | 'text'>): boolean {
  return !EXCEPTIONS.some((each) => each.language === language && each.matches.test(text))
}
