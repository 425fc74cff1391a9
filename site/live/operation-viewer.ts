import OpenApiExplorer from 'openapi-explorer'

/** The part of the OpenAPI document that is used here. */
interface OpenApiDocument {
  components: {
    parameters: Record<
      string,
      { required: boolean; example?: unknown; schema: { default?: unknown } }
    >
  }
}

/** The form of an operation. */
interface RequestForm extends HTMLElement {
  readonly updateComplete: Promise<unknown>
  readonly serverUrl: string
  curlSyntax: string
  computeCurlSyntax(): void
}

/** Shows one operation, and sends requests to it. */
class OperationViewer extends OpenApiExplorer {
  /** Its style for narrow windows lists all operations, and cannot be used by keyboard. */
  override handleResize(): void {
    this.renderStyle = 'focused'
  }

  /** It would take the focus, and change the fragment and the position of the page. */
  override async scrollTo(): Promise<void> {}

  override updated(): void {
    // The page has a landmark for its content.
    const main = this.shadowRoot.querySelector('main')
    main?.replaceWith(...main.childNodes)
    const form = this.shadowRoot.querySelector<RequestForm>('api-request')
    if (form) void complete(form)
  }
}

async function complete(form: RequestForm): Promise<void> {
  await form.updateComplete
  for (const select of form.querySelectorAll<HTMLElement>('select[data-pname]')) {
    select.setAttribute('aria-labelledby', `request-${select.dataset['pname']}-label`)
  }
  if (form.curlSyntax === '') form.computeCurlSyntax()
}

customElements.define('operation-viewer', OperationViewer)

const prototypeOf = (name: string) => Object(customElements.get(name)).prototype

// What the page shows above the viewer, and what its options and variables do not reach.
const sheet = new CSSStyleSheet()
sheet.replaceSync(`
  .nav-bar, .expanded-endpoint-body > :not(.expanded-req-resp-container) { display: none !important; }
  .section-gap--focused-mode, .main-content-inner, .api-request { padding: 0 !important; border: 0 !important; }
  #operations-root { flex: 1; min-width: 0; }
  .api-request .m-table tr { display: grid; grid-template-columns: 8rem minmax(0, 1fr); padding: 6px 0; }
  .api-request .m-table tr + tr { border-top: 1px solid var(--light-border-color); }
  .api-request .m-table td { width: auto !important; min-width: 0 !important; border: 0; }
  .api-request .m-table td:nth-child(3) { grid-column: 2; }
  .api-request .m-table td > * { margin-block: 2px !important; }
  .tab-buttons { flex-wrap: wrap; height: auto; }
  .tab-btn { min-height: 24px; }
  .m-btn.primary:is(:hover, :focus-visible) { color: var(--primary-btn-text-color); }
  :focus-visible { outline: 2px solid var(--primary-color) !important; outline-offset: 2px; }
  @media (max-width: 767px) {
    .resp-headers + table :is(tr, td) { display: block; border: 0 !important; padding: 4px 8px !important; }
  }
`)
for (const name of ['operation-viewer', 'api-response', 'schema-table', 'syntax-highlighter']) {
  Object(customElements.get(name)).elementStyles.push(sheet)
}

// A page with several viewers would have as many landmarks of one name.
prototypeOf('syntax-highlighter').updated = function (this: HTMLElement): void {
  this.shadowRoot?.querySelector('pre')?.setAttribute('role', 'group')
}

// No program but this browser reaches the service worker: a command is for `ratesmith serve --demo`.
const { computeCurlSyntax } = prototypeOf('api-request')
prototypeOf('api-request').computeCurlSyntax = function (
  this: RequestForm,
  ...rest: unknown[]
): void {
  computeCurlSyntax.apply(this, rest)
  this.curlSyntax = this.curlSyntax.replace(this.serverUrl, 'http://127.0.0.1:8787/api')
}

/**
 * Returns an element that shows an operation, such as `get-/v1/convert`, with or without a form that sends requests.
 *
 * @throws {Error} if the OpenAPI document cannot be fetched
 */
export async function createViewer(
  base: string,
  operation: string,
  hasForm: boolean,
): Promise<HTMLElement> {
  const response = await fetch(`${base}api/v1/openapi.json`)
  // The viewer would make up examples from patterns.
  const document: OpenApiDocument = JSON.parse(await response.text(), (key, value: unknown) =>
    key === 'pattern' ? undefined : value,
  )
  for (const { required, example, schema } of Object.values(document.components.parameters)) {
    if (required) schema.default ??= example
  }
  const viewer = new OperationViewer()
  viewer.explorerLocation = operation
  viewer.setAttribute('hide-console', String(!hasForm))
  void viewer.loadSpec(document)
  return viewer
}
