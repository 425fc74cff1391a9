import type { Header } from './raw.ts'

/**
 * A `Link` header (RFC 8288) to where an answer comes from, named `title`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7.2 for `via`
 */
export function viaLink({ name, url }: { name: string; url: string }): Header[] {
  return [['link', `<${new URL(url).href}>; rel="via"; ${titleOf(name)}`]]
}

/** What is not printable ASCII goes as RFC 8187 has it. */
function titleOf(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `title="${name.replace(/["\\]/g, '\\$&')}"`
  const whole = name.replace(/\p{Cs}/gu, '\ufffd')
  return `title*=UTF-8''${encodeURIComponent(whole).replace(/['()*]/g, toPercent)}`
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
