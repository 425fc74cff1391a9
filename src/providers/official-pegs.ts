import { pegs } from '../rates/pegs.ts'
import type { Peg } from '../rates/pegs.ts'

/** A currency that an authority keeps at a ratio, or within a band, of another. */
export interface OfficialPeg extends Peg {
  /** Who declared it, with what else to know in parentheses, such as that it held `de facto` before. */
  authority: string
  /** Page about it: an absolute URL. */
  source: string
}

/** Authority and page. */
const about: Readonly<Record<string, string>> = {
  AED: 'Central Bank of the United Arab Emirates (de facto until 2002) https://www.centralbank.ae/en/our-operations/currency-operations/exchange-rates',
  ANG: 'Centrale Bank van Curaçao en Sint Maarten https://www.centralbank.cw/faq/monetary-foreign-exchange-policy',
  AWG: 'Centrale Bank van Aruba https://www.cbaruba.org/',
  BAM: 'Centralna banka Bosne i Hercegovine https://www.cbbh.ba/Content/Read/13',
  BBD: 'Central Bank of Barbados https://www.centralbank.org.bb/news/general-press-release/fixed-for-forty-one-years',
  BGN: 'Bulgarian National Bank https://www.bnb.bg/',
  BHD: 'Central Bank of Bahrain https://www.cbb.gov.bh/monetary-policy/',
  BMD: 'Bermuda Monetary Authority https://www.bma.bm/',
  BND: 'Brunei Darussalam Central Bank https://www.bdcb.gov.bn/monetary-policy/monetary-policy-framework',
  BSD: 'Central Bank of The Bahamas https://www.centralbankbahamas.com/foreign-exchange',
  BTN: 'Royal Monetary Authority of Bhutan https://www.rma.org.bt/mpolicy/',
  BZD: 'Central Bank of Belize https://www.centralbank.org.bz/',
  CVE: 'Banco de Cabo Verde https://www.bcv.cv/',
  DJF: 'Banque Centrale de Djibouti https://banque-centrale.dj/le-currency-board',
  DKK: 'Danmarks Nationalbank https://www.nationalbanken.dk/en',
  ERN: 'Bank of Eritrea (de facto; some central banks quote 15.38) https://www.imf.org/en/Countries/ERI',
  FKP: 'Falkland Islands Government https://falklands.gov.fk/finance/currency',
  GGP: 'States of Guernsey https://www.gov.gg/',
  GIP: 'Government of Gibraltar https://www.gibraltar.gov.gi/',
  HKD: 'Hong Kong Monetary Authority https://www.hkma.gov.hk/eng/key-functions/money/linked-exchange-rate-system/',
  IMP: 'Isle of Man Government https://www.gov.im/',
  JEP: 'Government of Jersey https://www.gov.je/',
  JOD: 'Central Bank of Jordan (middle of 0.708 and 0.71) https://www.cbj.gov.jo/Pages/viewpage.aspx?pageID=65',
  KMF: 'Banque Centrale des Comores https://www.banque-comores.km/',
  KYD: 'Cayman Islands Monetary Authority https://www.cima.ky/',
  LSL: 'Central Bank of Lesotho https://www.centralbank.org.ls/',
  MOP: 'Autoridade Monetária de Macau https://www.amcm.gov.mo/en/about-amcm/history/the-pataca',
  NAD: 'Bank of Namibia https://www.bon.com.na/',
  NPR: 'Nepal Rastra Bank https://www.nrb.org.np/',
  OMR: 'Central Bank of Oman https://cbo.gov.om/Pages/FixedPeg.aspx',
  PAB: 'República de Panamá https://www.mef.gob.pa/',
  QAR: 'Qatar Central Bank https://www.qcb.gov.qa/Documents/BankInstructions/EN/01-02.pdf',
  SAR: 'Saudi Central Bank (de facto until 2003) https://www.sama.gov.sa/en-US/MonetaryPolicy/Pages/ExchangeRatePolicy.aspx',
  SHP: 'Government of Saint Helena https://www.sainthelena.gov.sh/',
  STN: 'Banco Central de São Tomé e Príncipe https://www.bcstp.st/',
  SZL: 'Central Bank of Eswatini https://www.centralbank.org.sz/',
  XAF: "Banque des États de l'Afrique Centrale https://www.beac.int/",
  XCD: 'Eastern Caribbean Central Bank https://www.eccb-centralbank.org/news/eccb-commemorates-48-years-of-ec-dollar-peg',
  XCG: 'Centrale Bank van Curaçao en Sint Maarten https://www.centralbank.cw/faq/monetary-foreign-exchange-policy',
  XOF: "Banque Centrale des États de l'Afrique de l'Ouest https://www.bceao.int/",
  XPF: "Institut d'émission d'outre-mer https://www.ieom.fr/ieom/langues/duties-and-activities/article/issuing-the-currency",
}

/** Official pegs: currencies whose authority has declared a ratio or a band. */
export const OFFICIAL_PEGS: readonly OfficialPeg[] = /* @__PURE__ */ Array.from(
  pegs.values(),
  (peg) => {
    const [, authority = '', source = ''] = /^(.+) (\S+)$/.exec(about[peg.currency] ?? '') ?? []
    return { ...peg, authority, source }
  },
)
