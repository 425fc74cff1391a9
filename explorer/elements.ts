/**
 * Returns the first element in `root` that matches `selector`.
 *
 * @throws {Error} without an element of that type
 */
export function find<T extends Element>(
  selector: string,
  type: new () => T,
  root: ParentNode = document,
): T {
  const element = root.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`)
  return element
}

/** Creates an element with `content`. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  element.append(...content)
  return element
}

/** Returns a copy of the content of the template `id`. */
export function copyOf(id: string): Node {
  return find(`#${id}`, HTMLTemplateElement).content.cloneNode(true)
}
