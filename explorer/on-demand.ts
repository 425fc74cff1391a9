/** Text of `on-demand.css`. */
declare const ON_DEMAND_STYLE: string

// The second script of the page, which is loaded when one of these is needed.
export { readAmount } from './amount.ts'
export { createApiTab } from './api-tab.ts'
export { createCombobox, searchAmong } from './combobox.ts'
export { createComparisonField } from './comparison-field.ts'
export { rowsOfDays } from './day-rows.ts'
export { createRequestTools } from './request-tools.ts'
export { copyText } from './response.ts'
export { saveHistory } from './save-history.ts'

const sheet = new CSSStyleSheet()
sheet.replaceSync(ON_DEMAND_STYLE)
document.adoptedStyleSheets.push(sheet)
