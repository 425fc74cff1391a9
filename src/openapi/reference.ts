/** A Reference Object to the component `name` of a kind. */
export function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}
