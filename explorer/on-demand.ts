declare const ON_DEMAND_STYLE: string

// The second script of the page, which is loaded when one of these is needed.
export { readAmount } from './amount.ts'
export { createCombobox, searchAmong } from './combobox.ts'
export { copyText, createRequestTools } from './request-tools.ts'
export { saveFile } from './save-file.ts'

const sheet = new CSSStyleSheet()
sheet.replaceSync(ON_DEMAND_STYLE)
document.adoptedStyleSheets.push(sheet)
