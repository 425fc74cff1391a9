/**
 * Returns the first element in `root` that matches `selector`.
 *
 * @throws {Error} without an element of that type
 */
export function find(selector: string): HTMLElement
export function find<T extends Element>(selector: string, type: new () => T, root?: ParentNode): T
export function find(selector: string, type = HTMLElement, root: ParentNode = document): Element {
  const element = root.querySelector(selector)
  if (element instanceof type) return element
  throw new Error(`the page has no ${selector}`)
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...content)
  return element
}
