declare const MORE_STYLE: string

// The second script of the page: what only interactions need.
export { problemOf, readAmount } from './amount.ts'
export { createCombobox, searchAmong } from './combobox.ts'
export { createCrosshair } from './crosshair.ts'
export { createDayTable } from './day-table.ts'
export { createKeyCard } from './key.ts'
export { createMenu } from './menu.ts'
export { pegInWords } from './pegs.ts'
export { copyText, createRequestTools, saveFile } from './request-tools.ts'

const sheet = new CSSStyleSheet()
sheet.replaceSync(MORE_STYLE)
document.adoptedStyleSheets.push(sheet)
