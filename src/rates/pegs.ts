import { amountNeeded } from './arithmetic.ts'

/** A currency that an authority keeps at a ratio, or within a band, of another. */
export interface OfficialPeg {
  /** ISO 4217 code. */
  currency: string
  /** ISO 4217 code of the currency that it is pegged to. */
  anchor: string
  /** Units of the currency for one unit of the anchor; null for a band. */
  ratio: number | null
  /** Units of the anchor for one unit of the currency, if declared so: `ratio` is its inverse with 15 digits; otherwise null. */
  price: number | null
  /** Lowest and highest units of the currency for one unit of the anchor; null for a ratio. */
  band: readonly [low: number, high: number] | null
  /** First day on which it surely held, `YYYY-MM-DD`. */
  since: string
  /** Last day, `YYYY-MM-DD`; null while it is in force. */
  until: string | null
  /** Who declared it, with a remark in parentheses, such as until when it held only de facto. */
  authority: string
  /** Page about it: an absolute URL. */
  source: string
}

/** Currency, anchor, ratio (1/price if the price is declared) or band, first day, last day if it has ended, authority and page. */
const rows = [
  'AED USD 3.6725 1997-11-02 Central Bank of the United Arab Emirates (de facto until 2002) https://www.centralbank.ae/en/our-operations/currency-operations/exchange-rates',
  'ANG USD 1.79 1971-12-18 2025-03-30 Centrale Bank van Curaçao en Sint Maarten https://www.centralbank.cw/faq/monetary-foreign-exchange-policy',
  'AWG USD 1.79 1986-01-01 Centrale Bank van Aruba https://www.cbaruba.org/',
  'BAM EUR 1.95583 1999-01-01 Centralna banka Bosne i Hercegovine https://www.cbbh.ba/Content/Read/13',
  'BBD USD 2 1975-07-05 Central Bank of Barbados https://www.centralbank.org.bb/news/general-press-release/fixed-for-forty-one-years',
  'BGN EUR 1.95583 1999-07-05 2025-12-31 Bulgarian National Bank https://www.bnb.bg/',
  'BHD USD 0.376 2001-01-01 Central Bank of Bahrain https://www.cbb.gov.bh/monetary-policy/',
  'BMD USD 1 1972-02-06 Bermuda Monetary Authority https://www.bma.bm/',
  'BND SGD 1 1967-06-12 Brunei Darussalam Central Bank https://www.bdcb.gov.bn/monetary-policy/monetary-policy-framework',
  'BSD USD 1 1974-01-01 Central Bank of The Bahamas https://www.centralbankbahamas.com/foreign-exchange',
  'BTN INR 1 1974-01-01 Royal Monetary Authority of Bhutan https://www.rma.org.bt/mpolicy/',
  'BZD USD 2 1979-01-01 Central Bank of Belize https://www.centralbank.org.bz/',
  'CVE EUR 110.265 1999-01-01 Banco de Cabo Verde https://www.bcv.cv/',
  'DJF USD 177.721 1973-02-20 Banque Centrale de Djibouti https://banque-centrale.dj/le-currency-board',
  // 7.46038, by 2.25 % in both directions.
  'DKK EUR 7.29252–7.62824 1999-01-01 Danmarks Nationalbank https://www.nationalbanken.dk/en',
  'FKP GBP 1 1966-02-14 Falkland Islands Government https://falklands.gov.fk/finance/currency',
  'GGP GBP 1 1971-02-15 States of Guernsey https://www.gov.gg/',
  'GIP GBP 1 1928-01-01 Government of Gibraltar https://www.gibraltar.gov.gi/',
  'HKD USD 7.75–7.85 2005-05-18 Hong Kong Monetary Authority https://www.hkma.gov.hk/eng/key-functions/money/linked-exchange-rate-system/',
  'IMP GBP 1 1971-02-15 Isle of Man Government https://www.gov.im/',
  'JEP GBP 1 1971-02-15 Government of Jersey https://www.gov.je/',
  'JOD USD 0.709 1995-10-23 Central Bank of Jordan (middle of 0.708 and 0.71) https://www.cbj.gov.jo/Pages/viewpage.aspx?pageID=65',
  'KMF EUR 491.96775 1999-01-01 Banque Centrale des Comores https://www.banque-comores.km/',
  'KYD USD 1/1.2 1974-04-01 Cayman Islands Monetary Authority https://www.cima.ky/',
  'LSL ZAR 1 1980-01-19 Central Bank of Lesotho https://www.centralbank.org.ls/',
  'MOP HKD 1.03 1983-01-01 Autoridade Monetária de Macau https://www.amcm.gov.mo/en/about-amcm/history/the-pataca',
  'NAD ZAR 1 1993-09-15 Bank of Namibia https://www.bon.com.na/',
  'NPR INR 1.6 1993-02-12 Nepal Rastra Bank https://www.nrb.org.np/',
  'OMR USD 1/2.6008 1986-01-01 Central Bank of Oman https://cbo.gov.om/Pages/FixedPeg.aspx',
  'PAB USD 1 1904-06-28 República de Panamá https://www.mef.gob.pa/',
  'QAR USD 3.64 2001-07-09 Qatar Central Bank https://www.qcb.gov.qa/Documents/BankInstructions/EN/01-02.pdf',
  'SAR USD 3.75 1986-06-01 Saudi Central Bank (de facto until 2003) https://www.sama.gov.sa/en-US/MonetaryPolicy/Pages/ExchangeRatePolicy.aspx',
  'SHP GBP 1 1976-02-02 Government of Saint Helena https://www.sainthelena.gov.sh/',
  'STN EUR 24.5 2018-01-01 Banco Central de São Tomé e Príncipe https://www.bcstp.st/',
  'SZL ZAR 1 1974-09-06 Central Bank of Eswatini https://www.centralbank.org.sz/',
  "XAF EUR 655.957 1999-01-01 Banque des États de l'Afrique Centrale https://www.beac.int/",
  'XCD USD 2.7 1976-07-07 Eastern Caribbean Central Bank https://www.eccb-centralbank.org/news/eccb-commemorates-48-years-of-ec-dollar-peg',
  'XCG USD 1.79 2025-03-31 Centrale Bank van Curaçao en Sint Maarten https://www.centralbank.cw/faq/monetary-foreign-exchange-policy',
  "XOF EUR 655.957 1999-01-01 Banque Centrale des États de l'Afrique de l'Ouest https://www.bceao.int/",
  "XPF EUR 1/0.00838 1999-01-01 Institut d'émission d'outre-mer https://www.ieom.fr/ieom/langues/duties-and-activities/article/issuing-the-currency",
]

const ROW = /^(\w+) (\w+) (\S+) (\S+) (?:(\d\S+) )?(.+) (\S+)$/

/** Official pegs: currencies whose authority has declared a ratio or a band. */
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
  const [low = NaN, high] = units.replace('1/', '').split('–').map(Number)
  const price = units.startsWith('1/') ? low : null
  const [ratio, band] =
    high === undefined ? [price ? amountNeeded(1, price) : low, null] : [null, [low, high] as const]
  return { currency, anchor, ratio, price, band, since, until, authority, source }
})
