import { withdrawals } from './withdrawn.ts'
import type { WithdrawnCurrency } from './withdrawn.ts'

/** In force on 1 January 1999; amended by the regulations in the later euro rows. */
const EURO = 'Council Regulation (EC) No 2866/98'

type Row = readonly [code: string, numeric: string | null, name: string, source: string]

const rows: readonly Row[] = [
  ['AFA', '004', 'Afghan Afghani (to 2002)', 'Da Afghanistan Bank'],
  ['ANG', '532', 'Netherlands Antillean Guilder', 'ISO 4217 amendment 176'],
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
  ['CUC', '931', 'Cuban Convertible Peso', 'Cuba, Decree-Law 17 of 2020'],
  ['CYP', '196', 'Cypriot Pound', 'Council Regulation (EC) No 1135/2007'],
  ['DDM', '278', 'East German Mark', 'Treaty of 18 May 1990 on the monetary union'],
  ['DEM', '276', 'German Mark', EURO],
  ['ECS', '218', 'Ecuadorian Sucre', 'Ecuador, Law 2000-4'],
  ['EEK', '233', 'Estonian Kroon', 'Council Regulation (EU) No 671/2010'],
  ['ESP', '724', 'Spanish Peseta', EURO],
  ['FIM', '246', 'Finnish Markka', EURO],
  ['FRF', '250', 'French Franc', EURO],
  ['GEK', '268', 'Georgian Coupon', 'National Bank of Georgia'],
  ['GHC', '288', 'Ghanaian Cedi (to 2007)', 'Bank of Ghana'],
  ['GRD', '300', 'Greek Drachma', 'Council Regulation (EC) No 1478/2000'],
  ['GWP', '624', 'Guinea-Bissau Peso', 'Central Bank of West African States'],
  ['HRD', '191', 'Croatian Dinar', 'Croatian National Bank'],
  ['HRK', '191', 'Croatian Kuna', 'Council Regulation (EU) 2022/1208'],
  ['IEP', '372', 'Irish Pound', EURO],
  ['ILR', '376', 'Israeli Shekel (to 1985)', 'Israel, New Sheqel Law of 1985'],
  ['ISJ', '352', 'Icelandic Króna (to 1980)', 'Central Bank of Iceland'],
  ['ITL', '380', 'Italian Lira', EURO],
  ['LTL', '440', 'Lithuanian Litas', 'Council Regulation (EU) No 851/2014'],
  ['LTT', '440', 'Lithuanian Talonas', 'Bank of Lithuania'],
  ['LUF', '442', 'Luxembourgish Franc', EURO],
  ['LVL', '428', 'Latvian Lats', 'Council Regulation (EU) No 870/2013'],
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
  ['SLL', '694', 'Sierra Leonean Leone (to 2022)', 'Bank of Sierra Leone'],
  ['SRG', '740', 'Surinamese Guilder', 'Central Bank of Suriname'],
  ['STD', '678', 'São Tomé and Príncipe Dobra (to 2017)', 'ISO 4217 amendment 164'],
  ['TJR', '762', 'Tajikistani Ruble', 'Tajikistan, Decree 415 of 2000'],
  ['TMM', '795', 'Turkmenistani Manat (to 2008)', 'Central Bank of Turkmenistan'],
  ['TRL', '792', 'Turkish Lira (to 2004)', 'Turkey, Law 5083 of 2004'],
  ['UAK', '804', 'Ukrainian Karbovanets', 'Ukraine, Decree 762 of 1996'],
  ['UYP', '858', 'Uruguayan Peso (to 1993)', 'Central Bank of Uruguay'],
  ['VEB', '862', 'Venezuelan Bolívar', 'Venezuela, Decree-Law 5.229 of 2007'],
  ['VEF', '937', 'Bolívar Fuerte', 'Venezuela, Decree 3.548 of 2018'],
  ['XEU', '954', 'European Currency Unit', 'Council Regulation (EC) No 1103/97'],
  ['ZMK', '894', 'Zambian Kwacha (to 2012)', 'Zambia, Act 8 of 2012'],
  ['ZWD', '716', 'Zimbabwean Dollar (to 2006)', 'Reserve Bank of Zimbabwe'],
  ['ZWL', '932', 'Zimbabwean Dollar', 'ISO 4217 amendment 177'],
  ['ZWN', '942', 'Zimbabwean Dollar (2006–2008)', 'Reserve Bank of Zimbabwe'],
  ['ZWR', '935', 'Zimbabwean Dollar (2008–2009)', 'Reserve Bank of Zimbabwe'],
]

const descriptions = new Map(
  rows.map(([code, numeric, name, source]) => [code, { numeric, name, source }]),
)

/**
 * Withdrawn currencies that feeds and clients still use, sorted by code. Only currencies with a certain date and ratio are
 * included, so a missing code may also be withdrawn.
 */
export const withdrawnCurrencies: readonly WithdrawnCurrency[] = withdrawals.map((withdrawal) => ({
  numeric: null,
  name: '',
  source: '',
  ...withdrawal,
  ...descriptions.get(withdrawal.code),
}))

const byCode: ReadonlyMap<string, WithdrawnCurrency> = new Map(
  withdrawnCurrencies.map((currency) => [currency.code, currency]),
)

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
  return byCode.get(code)
}
