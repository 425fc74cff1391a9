import { withdrawals } from './currency-code.ts'
import type { WithdrawnCurrency } from './currency-code.ts'

/** @internal An ISO 4217 numeric code, three digits. */
export type NumericCode = string

/** @internal Digits of a currency after the decimal point. */
export type MinorUnits = number

/** @internal An ISO 3166-1 alpha-2 code. */
export type CountryCode = string

/** An active currency, fund or metal, which is quoted by the troy ounce. */
export interface Currency {
  /** ISO 4217 alphabetic code, or the three letters of the feed where `numeric` is null. */
  code: string
  /** English name. */
  name: string
  /** ISO 4217 numeric code as three digits; null for codes outside ISO 4217. */
  numeric: string | null
  /** Digits after the decimal point; null where ISO 4217 has N.A. */
  minorUnits: number | null
  /** Symbol, such as `$`, which other currencies may share; null without one. */
  symbol: string | null
  /** Countries and territories where it is legal tender, by sorted ISO 3166-1 codes; Kosovo is `XK`. */
  countries: readonly string[]
}

/**
 * Code, numeric code, digits after the decimal point, name, symbol and countries. The last two are those of CLDR 48.2: the narrow
 * symbol in English, and `currencyData.json`, without reserved codes of regions. CLDR lacks six of the codes outside ISO 4217.
 */
const rows = [
  ['AED', '784', 2, 'UAE Dirham', null, 'AE'],
  ['AFN', '971', 2, 'Afghan Afghani', '؋', 'AF'],
  ['ALL', '008', 2, 'Albanian Lek', null, 'AL'],
  ['AMD', '051', 2, 'Armenian Dram', '֏', 'AM'],
  ['AOA', '973', 2, 'Angolan Kwanza', 'Kz', 'AO'],
  ['ARS', '032', 2, 'Argentine Peso', '$', 'AR'],
  ['AUD', '036', 2, 'Australian Dollar', '$', 'AU CC CX HM KI NF NR TV'],
  ['AWG', '533', 2, 'Aruban Florin', null, 'AW'],
  ['AZN', '944', 2, 'Azerbaijani Manat', '₼', 'AZ'],
  ['BAM', '977', 2, 'Bosnia and Herzegovina Convertible Mark', 'KM', 'BA'],
  ['BBD', '052', 2, 'Barbadian Dollar', '$', 'BB'],
  ['BDT', '050', 2, 'Bangladeshi Taka', '৳', 'BD'],
  ['BHD', '048', 3, 'Bahraini Dinar', null, 'BH'],
  ['BIF', '108', 0, 'Burundian Franc', null, 'BI'],
  ['BMD', '060', 2, 'Bermudian Dollar', '$', 'BM'],
  ['BND', '096', 2, 'Brunei Dollar', '$', 'BN'],
  ['BOB', '068', 2, 'Bolivian Boliviano', 'Bs', 'BO'],
  ['BOV', '984', 2, 'Bolivian Mvdol', null, ''],
  ['BRL', '986', 2, 'Brazilian Real', 'R$', 'BR'],
  ['BSD', '044', 2, 'Bahamian Dollar', '$', 'BS'],
  ['BTN', '064', 2, 'Bhutanese Ngultrum', null, 'BT'],
  ['BWP', '072', 2, 'Botswana Pula', 'P', 'BW'],
  ['BYN', '933', 2, 'Belarusian Ruble', null, 'BY'],
  ['BZD', '084', 2, 'Belize Dollar', '$', 'BZ'],
  ['CAD', '124', 2, 'Canadian Dollar', '$', 'CA'],
  ['CDF', '976', 2, 'Congolese Franc', null, 'CD'],
  ['CHE', '947', 2, 'WIR Euro', null, ''],
  ['CHF', '756', 2, 'Swiss Franc', null, 'CH LI'],
  ['CHW', '948', 2, 'WIR Franc', null, ''],
  ['CLF', '990', 4, 'Chilean Unidad de Fomento', null, ''],
  ['CLP', '152', 0, 'Chilean Peso', '$', 'CL'],
  ['CNH', null, 2, 'Chinese Yuan Renminbi (Offshore)', null, ''],
  ['CNY', '156', 2, 'Chinese Yuan Renminbi', '¥', 'CN'],
  ['COP', '170', 2, 'Colombian Peso', '$', 'CO'],
  ['COU', '970', 2, 'Colombian Unidad de Valor Real', null, ''],
  ['CRC', '188', 2, 'Costa Rican Colón', '₡', 'CR'],
  ['CUP', '192', 2, 'Cuban Peso', '$', 'CU'],
  ['CVE', '132', 2, 'Cape Verdean Escudo', null, 'CV'],
  ['CZK', '203', 2, 'Czech Koruna', 'Kč', 'CZ'],
  ['DJF', '262', 0, 'Djiboutian Franc', null, 'DJ'],
  ['DKK', '208', 2, 'Danish Krone', 'kr', 'DK FO GL'],
  ['DOP', '214', 2, 'Dominican Peso', '$', 'DO'],
  ['DZD', '012', 2, 'Algerian Dinar', null, 'DZ'],
  ['EGP', '818', 2, 'Egyptian Pound', 'E£', 'EG'],
  ['ERN', '232', 2, 'Eritrean Nakfa', null, 'ER'],
  ['ETB', '230', 2, 'Ethiopian Birr', null, 'ET'],
  [
    'EUR',
    '978',
    2,
    'Euro',
    '€',
    'AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA XK YT',
  ],
  ['FJD', '242', 2, 'Fijian Dollar', '$', 'FJ'],
  ['FKP', '238', 2, 'Falkland Islands Pound', '£', 'FK'],
  ['FOK', null, 2, 'Faroese Króna', null, 'FO'],
  ['GBP', '826', 2, 'Pound Sterling', '£', 'GB GG GS IM JE'],
  ['GEL', '981', 2, 'Georgian Lari', '₾', 'GE'],
  ['GGP', null, 2, 'Guernsey Pound', null, 'GG'],
  ['GHS', '936', 2, 'Ghanaian Cedi', 'GH₵', 'GH'],
  ['GIP', '292', 2, 'Gibraltar Pound', '£', 'GI'],
  ['GMD', '270', 2, 'Gambian Dalasi', null, 'GM'],
  ['GNF', '324', 0, 'Guinean Franc', 'FG', 'GN'],
  ['GTQ', '320', 2, 'Guatemalan Quetzal', 'Q', 'GT'],
  ['GYD', '328', 2, 'Guyanese Dollar', '$', 'GY'],
  ['HKD', '344', 2, 'Hong Kong Dollar', '$', 'HK'],
  ['HNL', '340', 2, 'Honduran Lempira', 'L', 'HN'],
  ['HTG', '332', 2, 'Haitian Gourde', null, 'HT'],
  ['HUF', '348', 2, 'Hungarian Forint', 'Ft', 'HU'],
  ['IDR', '360', 2, 'Indonesian Rupiah', 'Rp', 'ID'],
  ['ILS', '376', 2, 'Israeli New Shekel', '₪', 'IL PS'],
  ['IMP', null, 2, 'Isle of Man Pound', null, 'IM'],
  ['INR', '356', 2, 'Indian Rupee', '₹', 'BT IN'],
  ['IQD', '368', 3, 'Iraqi Dinar', null, 'IQ'],
  ['IRR', '364', 2, 'Iranian Rial', null, 'IR'],
  ['ISK', '352', 0, 'Icelandic Króna', 'kr', 'IS'],
  ['JEP', null, 2, 'Jersey Pound', null, 'JE'],
  ['JMD', '388', 2, 'Jamaican Dollar', '$', 'JM'],
  ['JOD', '400', 3, 'Jordanian Dinar', null, 'JO PS'],
  ['JPY', '392', 0, 'Japanese Yen', '¥', 'JP'],
  ['KES', '404', 2, 'Kenyan Shilling', null, 'KE'],
  ['KGS', '417', 2, 'Kyrgyzstani Som', '⃀', 'KG'],
  ['KHR', '116', 2, 'Cambodian Riel', '៛', 'KH'],
  ['KID', null, 2, 'Kiribati Dollar', null, 'KI'],
  ['KMF', '174', 0, 'Comorian Franc', 'CF', 'KM'],
  ['KPW', '408', 2, 'North Korean Won', '₩', 'KP'],
  ['KRW', '410', 0, 'South Korean Won', '₩', 'KR'],
  ['KWD', '414', 3, 'Kuwaiti Dinar', null, 'KW'],
  ['KYD', '136', 2, 'Cayman Islands Dollar', '$', 'KY'],
  ['KZT', '398', 2, 'Kazakhstani Tenge', '₸', 'KZ'],
  ['LAK', '418', 2, 'Lao Kip', '₭', 'LA'],
  ['LBP', '422', 2, 'Lebanese Pound', 'L£', 'LB'],
  ['LKR', '144', 2, 'Sri Lankan Rupee', 'Rs', 'LK'],
  ['LRD', '430', 2, 'Liberian Dollar', '$', 'LR'],
  ['LSL', '426', 2, 'Lesotho Loti', null, 'LS'],
  ['LYD', '434', 3, 'Libyan Dinar', null, 'LY'],
  ['MAD', '504', 2, 'Moroccan Dirham', null, 'EH MA'],
  ['MDL', '498', 2, 'Moldovan Leu', null, 'MD'],
  ['MGA', '969', 2, 'Malagasy Ariary', 'Ar', 'MG'],
  ['MKD', '807', 2, 'Macedonian Denar', null, 'MK'],
  ['MMK', '104', 2, 'Myanmar Kyat', 'K', 'MM'],
  ['MNT', '496', 2, 'Mongolian Tögrög', '₮', 'MN'],
  ['MOP', '446', 2, 'Macanese Pataca', null, 'MO'],
  ['MRU', '929', 2, 'Mauritanian Ouguiya', null, 'MR'],
  ['MUR', '480', 2, 'Mauritian Rupee', 'Rs', 'MU'],
  ['MVR', '462', 2, 'Maldivian Rufiyaa', null, 'MV'],
  ['MWK', '454', 2, 'Malawian Kwacha', null, 'MW'],
  ['MXN', '484', 2, 'Mexican Peso', '$', 'MX'],
  ['MXV', '979', 2, 'Mexican Unidad de Inversión', null, ''],
  ['MYR', '458', 2, 'Malaysian Ringgit', 'RM', 'MY'],
  ['MZN', '943', 2, 'Mozambican Metical', null, 'MZ'],
  ['NAD', '516', 2, 'Namibian Dollar', '$', 'NA'],
  ['NGN', '566', 2, 'Nigerian Naira', '₦', 'NG'],
  ['NIO', '558', 2, 'Nicaraguan Córdoba', 'C$', 'NI'],
  ['NOK', '578', 2, 'Norwegian Krone', 'kr', 'BV NO SJ'],
  ['NPR', '524', 2, 'Nepalese Rupee', 'Rs', 'NP'],
  ['NZD', '554', 2, 'New Zealand Dollar', '$', 'CK NU NZ PN TK'],
  ['OMR', '512', 3, 'Omani Rial', null, 'OM'],
  ['PAB', '590', 2, 'Panamanian Balboa', null, 'PA'],
  ['PEN', '604', 2, 'Peruvian Sol', null, 'PE'],
  ['PGK', '598', 2, 'Papua New Guinean Kina', null, 'PG'],
  ['PHP', '608', 2, 'Philippine Peso', '₱', 'PH'],
  ['PKR', '586', 2, 'Pakistani Rupee', 'Rs', 'PK'],
  ['PLN', '985', 2, 'Polish Złoty', 'zł', 'PL'],
  ['PYG', '600', 0, 'Paraguayan Guaraní', '₲', 'PY'],
  ['QAR', '634', 2, 'Qatari Riyal', null, 'QA'],
  ['RON', '946', 2, 'Romanian Leu', 'lei', 'RO'],
  ['RSD', '941', 2, 'Serbian Dinar', null, 'RS'],
  ['RUB', '643', 2, 'Russian Ruble', '₽', 'RU'],
  ['RWF', '646', 0, 'Rwandan Franc', 'RF', 'RW'],
  ['SAR', '682', 2, 'Saudi Riyal', null, 'SA'],
  ['SBD', '090', 2, 'Solomon Islands Dollar', '$', 'SB'],
  ['SCR', '690', 2, 'Seychellois Rupee', null, 'SC'],
  ['SDG', '938', 2, 'Sudanese Pound', null, 'SD'],
  ['SEK', '752', 2, 'Swedish Krona', 'kr', 'SE'],
  ['SGD', '702', 2, 'Singapore Dollar', '$', 'SG'],
  ['SHP', '654', 2, 'Saint Helena Pound', '£', 'SH'],
  ['SLE', '925', 2, 'Sierra Leonean Leone', null, 'SL'],
  ['SOS', '706', 2, 'Somali Shilling', null, 'SO'],
  ['SRD', '968', 2, 'Surinamese Dollar', '$', 'SR'],
  ['SSP', '728', 2, 'South Sudanese Pound', '£', 'SS'],
  ['STN', '930', 2, 'São Tomé and Príncipe Dobra', 'Db', 'ST'],
  ['SVC', '222', 2, 'Salvadoran Colón', null, ''],
  ['SYP', '760', 2, 'Syrian Pound', '£', 'SY'],
  ['SZL', '748', 2, 'Swazi Lilangeni', null, 'SZ'],
  ['THB', '764', 2, 'Thai Baht', '฿', 'TH'],
  ['TJS', '972', 2, 'Tajikistani Somoni', null, 'TJ'],
  ['TMT', '934', 2, 'Turkmenistani Manat', null, 'TM'],
  ['TND', '788', 3, 'Tunisian Dinar', null, 'TN'],
  ['TOP', '776', 2, 'Tongan Paʻanga', 'T$', 'TO'],
  ['TRY', '949', 2, 'Turkish Lira', '₺', 'TR'],
  ['TTD', '780', 2, 'Trinidad and Tobago Dollar', '$', 'TT'],
  ['TVD', null, 2, 'Tuvaluan Dollar', null, 'TV'],
  ['TWD', '901', 2, 'New Taiwan Dollar', '$', 'TW'],
  ['TZS', '834', 2, 'Tanzanian Shilling', null, 'TZ'],
  ['UAH', '980', 2, 'Ukrainian Hryvnia', '₴', 'UA'],
  ['UGX', '800', 0, 'Ugandan Shilling', null, 'UG'],
  [
    'USD',
    '840',
    2,
    'US Dollar',
    '$',
    'AS BQ EC FM GU HT IO MH MP PA PR PW SV TC TL UM US VG VI ZW',
  ],
  ['USN', '997', 2, 'US Dollar (Next Day)', null, ''],
  ['UYI', '940', 0, 'Uruguayan Peso in Indexed Units', null, ''],
  ['UYU', '858', 2, 'Uruguayan Peso', '$', 'UY'],
  ['UYW', '927', 4, 'Uruguayan Unidad Previsional', null, ''],
  ['UZS', '860', 2, 'Uzbekistani Sum', null, 'UZ'],
  ['VED', '926', 2, 'Venezuelan Digital Bolívar', null, ''],
  ['VES', '928', 2, 'Venezuelan Sovereign Bolívar', null, 'VE'],
  ['VND', '704', 0, 'Vietnamese Dong', '₫', 'VN'],
  ['VUV', '548', 0, 'Vanuatu Vatu', null, 'VU'],
  ['WST', '882', 2, 'Samoan Tala', null, 'WS'],
  ['XAD', '396', 2, 'Arab Accounting Dinar', null, ''],
  ['XAF', '950', 0, 'Central African CFA Franc', 'FCFA', 'CF CG CM GA GQ TD'],
  ['XAG', '961', null, 'Silver', null, ''],
  ['XAU', '959', null, 'Gold', null, ''],
  ['XBA', '955', null, 'European Composite Unit (Bond Markets)', null, ''],
  ['XBB', '956', null, 'European Monetary Unit (Bond Markets)', null, ''],
  ['XBC', '957', null, 'European Unit of Account 9 (Bond Markets)', null, ''],
  ['XBD', '958', null, 'European Unit of Account 17 (Bond Markets)', null, ''],
  ['XCD', '951', 2, 'East Caribbean Dollar', '$', 'AG AI DM GD KN LC MS VC'],
  ['XCG', '532', 2, 'Caribbean Guilder', 'Cg.', 'CW SX'],
  ['XDR', '960', null, 'Special Drawing Right', null, ''],
  ['XOF', '952', 0, 'West African CFA Franc', 'F CFA', 'BF BJ CI GW ML NE SN TG'],
  ['XPD', '964', null, 'Palladium', null, ''],
  ['XPF', '953', 0, 'CFP Franc', 'CFPF', 'NC PF WF'],
  ['XPT', '962', null, 'Platinum', null, ''],
  ['XSU', '994', null, 'Sucre', null, ''],
  ['XTS', '963', null, 'Testing Code', null, ''],
  ['XUA', '965', null, 'ADB Unit of Account', null, ''],
  ['XXX', '999', null, 'No Currency', null, ''],
  ['YER', '886', 2, 'Yemeni Rial', null, 'YE'],
  ['ZAR', '710', 2, 'South African Rand', 'R', 'LS NA ZA'],
  ['ZMW', '967', 2, 'Zambian Kwacha', 'ZK', 'ZM'],
  ['ZWG', '924', 2, 'Zimbabwe Gold', null, 'ZW'],
] as const

/** @internal A row of the table. */
export type CurrencyRow = (typeof rows)[number]

/** Code of an active currency, fund or metal; see `currencies`. */
export type KnownCurrencyCode = CurrencyRow[0]

/** Code of any currency in upper or lower case; editors complete the known ones. */
export type CurrencyCode = KnownCurrencyCode | (string & {})

/**
 * The active currencies, funds and metals of ISO 4217 list one (maintained by SIX; edition of 17 September 2026), and seven
 * other codes from ExchangeRate-API. Sorted by code; names are in common English.
 *
 * @see https://www.six-group.com/en/products-services/financial-information/data-standards.html
 * @see https://www.exchangerate-api.com/docs/supported-currencies
 */
export const currencies: readonly Currency[] = rows.map((row) => {
  const [code, numeric, minorUnits, name, symbol, list] = row
  return { code, name, numeric, minorUnits, symbol, countries: list.match(/\w+/g) ?? [] }
})

const byCode = new Map(currencies.map((currency) => [currency.code, currency]))

/**
 * Returns the active currency with this upper-case code, or undefined.
 *
 * @example
 * ```ts
 * import { findCurrency } from 'ratesmith/currencies'
 *
 * const { minorUnits, symbol, countries } = findCurrency('JPY') ?? {} // 0, '¥', ['JP']
 * findCurrency('jpy') // undefined
 * ```
 */
export function findCurrency(code: string): Currency | undefined {
  return byCode.get(code)
}

/** In force on 1 January 1999; amended by the regulations in the later euro rows. */
const EURO = 'Council Regulation (EC) No 2866/98'

/** Code, numeric code, name, source and symbol. */
type WithdrawnRow = readonly [string, string | null, string, string, string?]

const withdrawnRows: readonly WithdrawnRow[] = [
  ['AFA', '004', 'Afghan Afghani (to 2002)', 'Da Afghanistan Bank'],
  ['ANG', '532', 'Netherlands Antillean Guilder', 'ISO 4217 amendment 176'],
  ['AON', '024', 'Angolan New Kwanza', 'National Bank of Angola'],
  ['AOR', '982', 'Angolan Readjusted Kwanza', 'National Bank of Angola'],
  ['ARA', '032', 'Argentine Austral', 'Argentina, Decree 2128 of 1991'],
  ['ARP', '032', 'Argentine Peso (1983–1985)', 'Argentina, Decree 1096 of 1985'],
  ['ATS', '040', 'Austrian Schilling', EURO],
  ['AZM', '031', 'Azerbaijani Manat (to 2005)', 'National Bank of Azerbaijan'],
  ['BEF', '056', 'Belgian Franc', EURO],
  ['BGL', '100', 'Bulgarian Lev (to 1999)', 'Bulgarian National Bank'],
  ['BGN', '975', 'Bulgarian Lev', 'Council Regulation (EU) 2025/1409'],
  ['BOP', '068', 'Bolivian Peso', 'Bolivia, Law 901 of 1986'],
  ['BRB', '076', 'Brazilian Cruzeiro (to 1986)', 'Brazil, Decree-Law 2283 of 1986'],
  ['BRC', '076', 'Brazilian Cruzado', 'Brazil, Provisional Measure 32 of 1989'],
  ['BRE', '076', 'Brazilian Cruzeiro (1990–1993)', 'Brazil, Provisional Measure 336 of 1993'],
  ['BRN', '076', 'Brazilian New Cruzado', 'Brazil, Provisional Measure 168 of 1990'],
  ['BRR', '987', 'Brazilian Cruzeiro Real', 'Brazil, Provisional Measure 542 of 1994'],
  ['BYB', '112', 'Belarusian Ruble (to 1999)', 'National Bank of Belarus'],
  ['BYR', '974', 'Belarusian Ruble (to 2016)', 'Belarus, Edict 450 of 2015'],
  ['CSD', '891', 'Serbian Dinar (to 2006)', 'ISO 4217 amendment 134'],
  ['CSK', '200', 'Czechoslovak Koruna', 'Czech Republic, Act 60 of 1993'],
  ['CUC', '931', 'Cuban Convertible Peso', 'Cuba, Decree-Law 17 of 2020', '$'],
  ['CYP', '196', 'Cypriot Pound', 'Council Regulation (EC) No 1135/2007'],
  ['DDM', '278', 'East German Mark', 'Treaty of 18 May 1990 on the monetary union'],
  ['DEM', '276', 'German Mark', EURO],
  ['ECS', '218', 'Ecuadorian Sucre', 'Ecuador, Law 2000-4'],
  ['EEK', '233', 'Estonian Kroon', 'Council Regulation (EU) No 671/2010'],
  ['ESP', '724', 'Spanish Peseta', EURO, '₧'],
  ['FIM', '246', 'Finnish Markka', EURO],
  ['FRF', '250', 'French Franc', EURO],
  ['GEK', '268', 'Georgian Coupon', 'National Bank of Georgia'],
  ['GHC', '288', 'Ghanaian Cedi (to 2007)', 'Bank of Ghana'],
  ['GRD', '300', 'Greek Drachma', 'Council Regulation (EC) No 1478/2000'],
  ['GWP', '624', 'Guinea-Bissau Peso', 'Central Bank of West African States'],
  ['HRD', '191', 'Croatian Dinar', 'Croatian National Bank'],
  ['HRK', '191', 'Croatian Kuna', 'Council Regulation (EU) 2022/1208', 'kn'],
  ['IEP', '372', 'Irish Pound', EURO],
  ['ILR', '376', 'Israeli Shekel (to 1985)', 'Israel, New Sheqel Law of 1985'],
  ['ISJ', '352', 'Icelandic Króna (to 1980)', 'Central Bank of Iceland'],
  ['ITL', '380', 'Italian Lira', EURO],
  ['LTL', '440', 'Lithuanian Litas', 'Council Regulation (EU) No 851/2014', 'Lt'],
  ['LTT', '440', 'Lithuanian Talonas', 'Bank of Lithuania'],
  ['LUF', '442', 'Luxembourgish Franc', EURO],
  ['LVL', '428', 'Latvian Lats', 'Council Regulation (EU) No 870/2013', 'Ls'],
  ['MGF', '450', 'Malagasy Franc', 'Central Bank of Madagascar'],
  ['MLF', '466', 'Malian Franc', 'Central Bank of West African States'],
  ['MRO', '478', 'Mauritanian Ouguiya (to 2017)', 'ISO 4217 amendment 165'],
  ['MTL', '470', 'Maltese Lira', 'Council Regulation (EC) No 1134/2007'],
  ['MXP', '484', 'Mexican Peso (to 1992)', 'Mexico, Decree of 22 June 1992'],
  ['MZM', '508', 'Mozambican Metical (to 2006)', 'Bank of Mozambique'],
  ['NIC', '558', 'Nicaraguan Córdoba (to 1991)', 'Central Bank of Nicaragua'],
  ['NLG', '528', 'Dutch Guilder', EURO],
  ['PEI', '604', 'Peruvian Inti', 'Peru, Law 25295 of 1990'],
  ['PES', '604', 'Peruvian Sol (to 1985)', 'Peru, Law 24064 of 1985'],
  ['PLZ', '616', 'Polish Złoty (to 1994)', 'Poland, Act of 7 July 1994'],
  ['PTE', '620', 'Portuguese Escudo', EURO],
  ['ROL', null, 'Romanian Leu (to 2005)', 'Romania, Law 348 of 2004'],
  ['RUR', '810', 'Russian Ruble (to 1997)', 'Russia, Decree 822 of 1997'],
  ['SDD', '736', 'Sudanese Dinar', 'Central Bank of Sudan'],
  ['SIT', '705', 'Slovenian Tolar', 'Council Regulation (EC) No 1086/2006'],
  ['SKK', '703', 'Slovak Koruna', 'Council Regulation (EC) No 694/2008'],
  ['SLL', '694', 'Sierra Leonean Leone (to 2023)', 'Bank of Sierra Leone'],
  ['SRG', '740', 'Surinamese Guilder', 'Central Bank of Suriname'],
  ['STD', '678', 'São Tomé and Príncipe Dobra (to 2017)', 'ISO 4217 amendment 164'],
  ['TJR', '762', 'Tajikistani Ruble', 'Tajikistan, Decree 415 of 2000'],
  ['TMM', '795', 'Turkmenistani Manat (to 2008)', 'Central Bank of Turkmenistan'],
  ['TRL', '792', 'Turkish Lira (to 2004)', 'Turkey, Law 5083 of 2004'],
  ['UAK', '804', 'Ukrainian Karbovanets', 'Ukraine, Decree 762 of 1996'],
  ['UYP', '858', 'Uruguayan Peso (to 1993)', 'Central Bank of Uruguay'],
  ['VEB', '862', 'Venezuelan Bolívar', 'Venezuela, Decree-Law 5.229 of 2007'],
  ['VEF', '937', 'Bolívar Fuerte', 'Venezuela, Decree 3.548 of 2018', 'Bs'],
  ['XEU', '954', 'European Currency Unit', 'Council Regulation (EC) No 1103/97'],
  ['YUM', '891', 'Yugoslav Dinar', 'National Bank of Serbia'],
  ['ZMK', '894', 'Zambian Kwacha (to 2012)', 'Zambia, Act 8 of 2012'],
  ['ZWD', '716', 'Zimbabwean Dollar (to 2006)', 'Reserve Bank of Zimbabwe'],
  ['ZWL', '932', 'Zimbabwean Dollar', 'ISO 4217 amendment 177'],
  ['ZWN', '942', 'Zimbabwean Dollar (2006–2008)', 'Reserve Bank of Zimbabwe'],
  ['ZWR', '935', 'Zimbabwean Dollar (2008–2009)', 'Reserve Bank of Zimbabwe'],
]

const descriptions = new Map(withdrawnRows.map(([code, ...description]) => [code, description]))

/**
 * Withdrawn currencies that feeds and clients still use, sorted by code. Only currencies with a certain date and ratio are
 * included, so a missing code may also be withdrawn.
 */
export const withdrawnCurrencies: readonly WithdrawnCurrency[] = withdrawals.map((row) => {
  const [numeric = null, name = '', source = '', symbol = null] = descriptions.get(row.code) ?? []
  return { numeric, name, symbol, source, ...row }
})

const withdrawnByCode = new Map(withdrawnCurrencies.map((currency) => [currency.code, currency]))

/**
 * Returns the withdrawn currency with this upper-case code, or undefined. `ratesmith/currencies` exports it as
 * `findWithdrawn`.
 *
 * @example
 * ```ts
 * import { findWithdrawn } from 'ratesmith/currencies'
 *
 * const mark = findWithdrawn('DEM')
 * mark?.successor // 'EUR'
 * mark?.ratio // 1.95583
 * ```
 */
export function findWithdrawnCurrency(code: string): WithdrawnCurrency | undefined {
  return withdrawnByCode.get(code)
}
