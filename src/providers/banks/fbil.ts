import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { jsonRows } from '../../upstream/published.ts'

/**
 * Creates a provider of the reference rates of Financial Benchmarks India. Late after four days: the calendar lacks religious
 * holidays.
 *
 * @see https://www.fbil.org.in
 */
export const createFbilProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Financial Benchmarks India (FBIL)',
  page: 'https://www.fbil.org.in/#/refrates',
  terms: 'https://www.fbil.org.in/#/termsandcondition',
  base: 'INR',
  currencies: 6,
  publication: {
    id: 'fbil',
    holidays: '01-26, 05-01, 08-15, 10-02, 12-25',
    time: '13:30',
    timeZone: 'Asia/Kolkata',
    since: '2018-07-10',
    lagDays: 4,
  },
  root: 'https://www.fbil.org.in',
  accept: 'application/json',
  minCodes: 5,
  maxDays: 366,
  requests: ({ start, end }) => [
    `/wasdm/refrates/fetchfiltered?fromDate=${start}&toDate=${end}&authenticated=false`,
  ],
  read: /* @__PURE__ */ jsonRows('', ({ processRunDate, subProdName, rate }) => {
    const [, units, code] = /^INR \/ (\d+) ([A-Z]{3})$/.exec(String(subProdName)) ?? []
    return [{ date: String(processRunDate).split(' ')[0], code, price: rate, units }]
  }),
})
