/** The attribution as one text, as the earlier endpoints give it. */
export function providerText({ name, url }: { name: string; url: string }): string {
  return `${name} (${url})`
}
