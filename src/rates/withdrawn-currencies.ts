import { withdrawals } from './withdrawn.ts'
import type { WithdrawnCurrency } from './withdrawn.ts'

/** In force on 1 January 1999; the regulations of the later euro rows amend it. */
const EURO = 'Council Regulation (EC) No 2866/98'

const rows: readonly (readonly [code: string, name: string, source: string])[] = [
  ['ANG', 'Netherlands Antillean Guilder', 'ISO 4217 amendment 176'],
  ['ATS', 'Austrian Schilling', EURO],
  ['AZM', 'Azerbaijani Manat (to 2005)', 'National Bank of Azerbaijan'],
  ['BEF', 'Belgian Franc', EURO],
  ['BGL', 'Bulgarian Lev (to 1999)', 'Bulgarian National Bank'],
  ['BGN', 'Bulgarian Lev', 'Council Regulation (EU) 2025/1409'],
  ['BYB', 'Belarusian Ruble (to 1999)', 'National Bank of Belarus'],
  ['BYR', 'Belarusian Ruble (to 2016)', 'Belarus, Edict 450 of 2015'],
  ['CUC', 'Cuban Convertible Peso', 'Cuba, Decree-Law 17 of 2020'],
  ['CYP', 'Cypriot Pound', 'Council Regulation (EC) No 1135/2007'],
  ['DEM', 'German Mark', EURO],
  ['EEK', 'Estonian Kroon', 'Council Regulation (EU) No 671/2010'],
  ['ESP', 'Spanish Peseta', EURO],
  ['FIM', 'Finnish Markka', EURO],
  ['FRF', 'French Franc', EURO],
  ['GRD', 'Greek Drachma', 'Council Regulation (EC) No 1478/2000'],
  ['HRK', 'Croatian Kuna', 'Council Regulation (EU) 2022/1208'],
  ['IEP', 'Irish Pound', EURO],
  ['ITL', 'Italian Lira', EURO],
  ['LTL', 'Lithuanian Litas', 'Council Regulation (EU) No 851/2014'],
  ['LUF', 'Luxembourgish Franc', EURO],
  ['LVL', 'Latvian Lats', 'Council Regulation (EU) No 870/2013'],
  ['MRO', 'Mauritanian Ouguiya (to 2017)', 'ISO 4217 amendment 165'],
  ['MTL', 'Maltese Lira', 'Council Regulation (EC) No 1134/2007'],
  ['MZM', 'Mozambican Metical (to 2006)', 'Bank of Mozambique'],
  ['NLG', 'Dutch Guilder', EURO],
  ['PLZ', 'Polish Złoty (to 1994)', 'Poland, Act of 7 July 1994'],
  ['PTE', 'Portuguese Escudo', EURO],
  ['ROL', 'Romanian Leu (to 2005)', 'Romania, Law 348 of 2004'],
  ['RUR', 'Russian Ruble (to 1997)', 'Russia, Decree 822 of 1997'],
  ['SIT', 'Slovenian Tolar', 'Council Regulation (EC) No 1086/2006'],
  ['SKK', 'Slovak Koruna', 'Council Regulation (EC) No 694/2008'],
  ['SLL', 'Sierra Leonean Leone (to 2022)', 'Bank of Sierra Leone'],
  ['STD', 'São Tomé and Príncipe Dobra (to 2017)', 'ISO 4217 amendment 164'],
  ['TMM', 'Turkmenistani Manat (to 2008)', 'Central Bank of Turkmenistan'],
  ['TRL', 'Turkish Lira (to 2004)', 'Turkey, Law 5083 of 2004'],
  ['VEB', 'Venezuelan Bolívar', 'Venezuela, Decree-Law 5.229 of 2007'],
  ['VEF', 'Bolívar Fuerte', 'Venezuela, Decree 3.548 of 2018'],
  ['XEU', 'European Currency Unit', 'Council Regulation (EC) No 1103/97'],
  ['ZMK', 'Zambian Kwacha (to 2012)', 'Zambia, Act 8 of 2012'],
  ['ZWL', 'Zimbabwean Dollar', 'ISO 4217 amendment 177'],
]

const descriptions = new Map(rows.map(([code, name, source]) => [code, { name, source }]))

/**
 * Currencies that feeds and clients still name after their end, sorted by code. Only rows whose date and ratio are
 * certain are here, so a code that is missing may be withdrawn all the same.
 */
export const withdrawnCurrencies: readonly WithdrawnCurrency[] = withdrawals.map((withdrawal) => ({
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
