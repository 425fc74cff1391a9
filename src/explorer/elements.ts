/** The first element in `root` that `selector` names. */
export function find<T extends Element>(
  selector: string,
  type: new () => T,
  root: ParentNode = document,
): T {
  const element = root.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`The page has no ${selector}`)
  return element
}

/** A new element with `content` in it. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  element.append(...content)
  return element
}

/** A copy of what is in the template `id`. */
export function copyOf(id: string): Node {
  return find(`#${id}`, HTMLTemplateElement).content.cloneNode(true)
}
