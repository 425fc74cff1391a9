declare module 'openapi-explorer' {
  /** The members that are used here: the package has no types. */
  export default class OpenApiExplorer extends HTMLElement {
    /** The operation to show, such as `get-/v1/convert`. */
    explorerLocation: string
    renderStyle: 'focused' | 'view'
    readonly shadowRoot: ShadowRoot
    handleResize(): void
    loadSpec(document: object): Promise<void>
    scrollTo(): Promise<void>
    updated(): void
  }
}
