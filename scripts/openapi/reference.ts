/** Returns a Reference Object to a component, for example of the kind `schemas`. */
export function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}
