/** A currency that an authority keeps at a ratio, or within a band, of another. */
export interface OfficialPeg {
  /** ISO 4217 code. */
  currency: string
  /** ISO 4217 code of the currency that it is pegged to. */
  anchor: string
  /** Units of the currency for one unit of the anchor; null for a band. */
  ratio: number | null
  /** Lowest and highest units of the currency for one unit of the anchor; null for a ratio. */
  band: readonly [low: number, high: number] | null
  /** First day, `YYYY-MM-DD`. */
  since: string
  /** Last day, `YYYY-MM-DD`; null while it is in force. */
  until: string | null
  /** Who declared it. */
  authority: string
  /** Page about it: an absolute URL. */
  source: string
}

/** Currency, anchor, ratio or band, first day, last day if it has ended, authority and page. */
const rows = [
  'AED USD 3.6725 1997-11-02 Central Bank of the United Arab Emirates https://www.centralbank.ae/en/our-operations/currency-operations/exchange-rates',
  'ANG USD 1.79 1971-12-18 2025-03-30 Centrale Bank van Curaçao en Sint Maarten https://www.centralbank.cw/faq/monetary-foreign-exchange-policy',
  'BAM EUR 1.95583 1999-01-01 Centralna banka Bosne i Hercegovine https://www.cbbh.ba/Content/Read/13',
  'BGN EUR 1.95583 1999-01-01 2025-12-31 Bulgarian National Bank https://www.bnb.bg/',
  'BHD USD 0.376 2001-01-01 Central Bank of Bahrain https://www.cbb.gov.bh/monetary-policy/',
  'BMD USD 1 1972-02-06 Bermuda Monetary Authority https://www.bma.bm/',
  'BND SGD 1 1967-06-12 Brunei Darussalam Central Bank https://www.bdcb.gov.bn/monetary-policy/monetary-policy-framework',
  'BTN INR 1 1974-01-01 Royal Monetary Authority of Bhutan https://www.rma.org.bt/mpolicy/',
  'CVE EUR 110.265 1999-01-01 Banco de Cabo Verde https://www.bcv.cv/',
  // 7.46038, by 2.25 % in both directions.
  'DKK EUR 7.29252–7.62824 1999-01-01 Danmarks Nationalbank https://www.nationalbanken.dk/en',
  'FKP GBP 1 1966-02-14 Falkland Islands Government https://falklands.gov.fk/finance/currency',
  'HKD USD 7.75–7.85 2005-05-18 Hong Kong Monetary Authority https://www.hkma.gov.hk/eng/key-functions/money/linked-exchange-rate-system/',
  'JOD USD 0.709 1995-10-23 Central Bank of Jordan https://www.cbj.gov.jo/Pages/viewpage.aspx?pageID=65',
  'MOP HKD 1.03 1983-01-01 Autoridade Monetária de Macau https://www.amcm.gov.mo/en/about-amcm/history/the-pataca',
  'OMR USD 0.3845 1986-01-01 Central Bank of Oman https://cbo.gov.om/Pages/FixedPeg.aspx',
  'QAR USD 3.64 2001-07-09 Qatar Central Bank https://www.qcb.gov.qa/Documents/BankInstructions/EN/01-02.pdf',
  'SAR USD 3.75 1986-06-01 Saudi Central Bank https://www.sama.gov.sa/en-US/MonetaryPolicy/Pages/ExchangeRatePolicy.aspx',
  'SHP GBP 1 1976-02-02 Government of Saint Helena https://www.sainthelena.gov.sh/',
  "XAF EUR 655.957 1999-01-01 Banque des États de l'Afrique Centrale https://www.beac.int/",
  'XCG USD 1.79 2025-03-31 Centrale Bank van Curaçao en Sint Maarten https://www.centralbank.cw/faq/monetary-foreign-exchange-policy',
  "XOF EUR 655.957 1999-01-01 Banque Centrale des États de l'Afrique de l'Ouest https://www.bceao.int/",
]

const ROW = /^(\w+) (\w+) (\S+) (\S+) (?:(\d\S+) )?(.+) (\S+)$/

/**
 * Official pegs: currencies whose authority has declared a ratio or a band. Currencies that are only stable in practice are
 * not among them.
 */
export const OFFICIAL_PEGS: readonly OfficialPeg[] = /* @__PURE__ */ rows.map((row) => {
  const [
    ,
    currency = '',
    anchor = '',
    units = '',
    since = '',
    until = null,
    authority = '',
    source = '',
  ] = ROW.exec(row) ?? []
  const [low = NaN, high] = units.split('–').map(Number)
  const fixed =
    high === undefined ? { ratio: low, band: null } : { ratio: null, band: [low, high] as const }
  return { currency, anchor, ...fixed, since, until, authority, source }
})
