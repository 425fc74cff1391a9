import { codes } from '../fixtures/codes.ts'

/** Replaces all tokens except `{{etag:…}}`; multiplies sizes by `scale`. */
export function expand(text: string, scale = 1): string {
  return text
    .replace(/\{\{rep\|([^|]*)\|(\d+)\}\}/g, (_, part: string, size) => part.repeat(size * scale))
    .replace(/\{\{codes:(\d+)\}\}/g, (_, size) => codes(size * scale).join(','))
    .replace(/\{\{params:(\d+)\}\}/g, (_, size) => parameters(size * scale).join('&'))
}

function parameters(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}=1`)
}
