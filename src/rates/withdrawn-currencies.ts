import { withdrawals } from './withdrawn.ts'
import type { WithdrawnCurrency } from './withdrawn.ts'

/** In force on 1 January 1999; the regulations of the later euro rows amend it. */
const EURO = 'Council Regulation (EC) No 2866/98'

type Row = readonly [code: string, numeric: string | null, name: string, source: string]

const rows: readonly Row[] = [
  ['ANG', '532', 'Netherlands Antillean Guilder', 'ISO 4217 amendment 176'],
  ['ATS', '040', 'Austrian Schilling', EURO],
  ['AZM', '031', 'Azerbaijani Manat (to 2005)', 'National Bank of Azerbaijan'],
  ['BEF', '056', 'Belgian Franc', EURO],
  ['BGL', '100', 'Bulgarian Lev (to 1999)', 'Bulgarian National Bank'],
  ['BGN', '975', 'Bulgarian Lev', 'Council Regulation (EU) 2025/1409'],
  ['BYB', '112', 'Belarusian Ruble (to 1999)', 'National Bank of Belarus'],
  ['BYR', '974', 'Belarusian Ruble (to 2016)', 'Belarus, Edict 450 of 2015'],
  ['CUC', '931', 'Cuban Convertible Peso', 'Cuba, Decree-Law 17 of 2020'],
  ['CYP', '196', 'Cypriot Pound', 'Council Regulation (EC) No 1135/2007'],
  ['DEM', '276', 'German Mark', EURO],
  ['EEK', '233', 'Estonian Kroon', 'Council Regulation (EU) No 671/2010'],
  ['ESP', '724', 'Spanish Peseta', EURO],
  ['FIM', '246', 'Finnish Markka', EURO],
  ['FRF', '250', 'French Franc', EURO],
  ['GRD', '300', 'Greek Drachma', 'Council Regulation (EC) No 1478/2000'],
  ['HRK', '191', 'Croatian Kuna', 'Council Regulation (EU) 2022/1208'],
  ['IEP', '372', 'Irish Pound', EURO],
  ['ITL', '380', 'Italian Lira', EURO],
  ['LTL', '440', 'Lithuanian Litas', 'Council Regulation (EU) No 851/2014'],
  ['LUF', '442', 'Luxembourgish Franc', EURO],
  ['LVL', '428', 'Latvian Lats', 'Council Regulation (EU) No 870/2013'],
  ['MRO', '478', 'Mauritanian Ouguiya (to 2017)', 'ISO 4217 amendment 165'],
  ['MTL', '470', 'Maltese Lira', 'Council Regulation (EC) No 1134/2007'],
  ['MZM', '508', 'Mozambican Metical (to 2006)', 'Bank of Mozambique'],
  ['NLG', '528', 'Dutch Guilder', EURO],
  ['PLZ', '616', 'Polish Złoty (to 1994)', 'Poland, Act of 7 July 1994'],
  ['PTE', '620', 'Portuguese Escudo', EURO],
  ['ROL', null, 'Romanian Leu (to 2005)', 'Romania, Law 348 of 2004'],
  ['RUR', '810', 'Russian Ruble (to 1997)', 'Russia, Decree 822 of 1997'],
  ['SIT', '705', 'Slovenian Tolar', 'Council Regulation (EC) No 1086/2006'],
  ['SKK', '703', 'Slovak Koruna', 'Council Regulation (EC) No 694/2008'],
  ['SLL', '694', 'Sierra Leonean Leone (to 2022)', 'Bank of Sierra Leone'],
  ['STD', '678', 'São Tomé and Príncipe Dobra (to 2017)', 'ISO 4217 amendment 164'],
  ['TMM', '795', 'Turkmenistani Manat (to 2008)', 'Central Bank of Turkmenistan'],
  ['TRL', '792', 'Turkish Lira (to 2004)', 'Turkey, Law 5083 of 2004'],
  ['VEB', '862', 'Venezuelan Bolívar', 'Venezuela, Decree-Law 5.229 of 2007'],
  ['VEF', '937', 'Bolívar Fuerte', 'Venezuela, Decree 3.548 of 2018'],
  ['XEU', '954', 'European Currency Unit', 'Council Regulation (EC) No 1103/97'],
  ['ZMK', '894', 'Zambian Kwacha (to 2012)', 'Zambia, Act 8 of 2012'],
  ['ZWL', '932', 'Zimbabwean Dollar', 'ISO 4217 amendment 177'],
]

const descriptions = new Map(
  rows.map(([code, numeric, name, source]) => [code, { numeric, name, source }]),
)

/**
 * Currencies that feeds and clients still name after their end, sorted by code. Only rows whose date and ratio are
 * certain are here, so a code that is missing may be withdrawn all the same.
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

/** The withdrawn currency with exactly this upper-case code. */
export function findWithdrawnCurrency(code: string): WithdrawnCurrency | undefined {
  return byCode.get(code)
}
