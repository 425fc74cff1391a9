import type { Block } from './page.ts'

/** What of the pages is not followed here. */
export interface Exception {
  language: string
  /** A line of `sh`, or a block of anything else. */
  matches: RegExp
  reason: string
}

/** All that is not followed here, and why. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    language: 'sh',
    matches: /^npm (?:ci|run|start|test)\b/,
    reason: 'is for a clone, where `.ci/run` begins alike',
  },
  {
    language: 'sh',
    matches: /^docker /,
    reason: 'needs Docker: test/system/docker.test.ts and compose.test.ts',
  },
  {
    language: 'sh',
    matches: /^npx openapi-typescript /,
    reason: 'is a program of others, which is not installed',
  },
  {
    language: 'sh',
    matches: /^npx wrangler /,
    reason: 'is a program of others, which is not installed; the Worker is run in workerd',
  },
  {
    language: 'ts',
    matches: /\bproxy\.example\b/,
    reason: 'there is no such proxy: test/system/undici-fetch.test.ts has one',
  },
  {
    language: 'jsonc',
    matches: /"compatibility_date"/,
    reason: 'is for Wrangler',
  },
  {
    language: 'nginx',
    matches: /proxy_cache /,
    reason: 'test/system/nginx.test.ts starts nginx with it',
  },
]

/** Why a line of `sh`, or a block of anything else, is not followed. */
export function exceptionFor(language: string, text: string): Exception | undefined {
  return EXCEPTIONS.find((each) => each.language === language && each.matches.test(text))
}

/** Whether a block other than `sh` is followed. */
export function isFollowed({ language, text }: Block): boolean {
  return exceptionFor(language, text) === undefined
}
