import type { Header } from './raw.ts'

/**
 * Returns a `Link` header (RFC 8288) to the source of a response.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7.2 for `via`
 */
export function viaLink({ name, url }: { name: string; url: string }): Header[] {
  return [['link', `<${new URL(url).href}>; rel="via"; ${titleOf(name)}`]]
}

// RFC 8187 encodes titles that are not printable ASCII.
function titleOf(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `title="${name.replace(/["\\]/g, '\\$&')}"`
  const whole = name.replace(/\p{Cs}/gu, '\ufffd')
  return `title*=UTF-8''${encodeURIComponent(whole).replace(/['()*]/g, toPercent)}`
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
