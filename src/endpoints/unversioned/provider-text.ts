/** Returns the attribution as one string, the format of the unversioned endpoints. */
export function providerText({ name, url }: { name: string; url: string }): string {
  return `${name} (${url})`
}
