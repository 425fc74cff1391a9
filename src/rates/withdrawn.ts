/** A currency that another one has replaced. */
export interface WithdrawnCurrency {
  /** The code that ISO 4217 had for it. */
  code: string
  /** English name. */
  name: string
  /**
   * The day from which the successor was the unit of account, `YYYY-MM-DD`. Notes and coins may have stayed legal
   * tender for longer, and ISO 4217 may have listed the code for longer.
   */
  withdrawnAt: string
  /** The code to use instead; it may be withdrawn too. */
  successor: string
  /** Units of the withdrawn currency for one of the successor, fixed by law; null where there is no fixed ratio. */
  ratio: number | null
  /** Where the date and the ratio come from. */
  source: string
}

type Row = readonly [
  code: string,
  successor: string,
  ratio: number | null,
  withdrawnAt: string,
  name: string,
  source: string,
]

/** In force on 1 January 1999; the regulations of the later euro rows amend it. */
const EURO = 'Council Regulation (EC) No 2866/98'

const rows: readonly Row[] = [
  ['ANG', 'XCG', 1, '2025-03-31', 'Netherlands Antillean Guilder', 'ISO 4217 amendment 176'],
  ['ATS', 'EUR', 13.7603, '1999-01-01', 'Austrian Schilling', EURO],
  ['AZM', 'AZN', 5000, '2006-01-01', 'Azerbaijani Manat (to 2005)', 'National Bank of Azerbaijan'],
  ['BEF', 'EUR', 40.3399, '1999-01-01', 'Belgian Franc', EURO],
  ['BGL', 'BGN', 1000, '1999-07-05', 'Bulgarian Lev (to 1999)', 'Bulgarian National Bank'],
  ['BGN', 'EUR', 1.95583, '2026-01-01', 'Bulgarian Lev', 'Council Regulation (EU) 2025/1409'],
  ['BYB', 'BYR', 1000, '2000-01-01', 'Belarusian Ruble (to 1999)', 'National Bank of Belarus'],
  ['BYR', 'BYN', 10_000, '2016-07-01', 'Belarusian Ruble (to 2016)', 'Belarus, Edict 450 of 2015'],
  ['CUC', 'CUP', 1 / 24, '2021-01-01', 'Cuban Convertible Peso', 'Cuba, Decree-Law 17 of 2020'],
  ['CYP', 'EUR', 0.585274, '2008-01-01', 'Cypriot Pound', 'Council Regulation (EC) No 1135/2007'],
  ['DEM', 'EUR', 1.95583, '1999-01-01', 'German Mark', EURO],
  ['EEK', 'EUR', 15.6466, '2011-01-01', 'Estonian Kroon', 'Council Regulation (EU) No 671/2010'],
  ['ESP', 'EUR', 166.386, '1999-01-01', 'Spanish Peseta', EURO],
  ['FIM', 'EUR', 5.94573, '1999-01-01', 'Finnish Markka', EURO],
  ['FRF', 'EUR', 6.55957, '1999-01-01', 'French Franc', EURO],
  ['GRD', 'EUR', 340.75, '2001-01-01', 'Greek Drachma', 'Council Regulation (EC) No 1478/2000'],
  ['HRK', 'EUR', 7.5345, '2023-01-01', 'Croatian Kuna', 'Council Regulation (EU) 2022/1208'],
  ['IEP', 'EUR', 0.787564, '1999-01-01', 'Irish Pound', EURO],
  ['ITL', 'EUR', 1936.27, '1999-01-01', 'Italian Lira', EURO],
  ['LTL', 'EUR', 3.4528, '2015-01-01', 'Lithuanian Litas', 'Council Regulation (EU) No 851/2014'],
  ['LUF', 'EUR', 40.3399, '1999-01-01', 'Luxembourgish Franc', EURO],
  ['LVL', 'EUR', 0.702804, '2014-01-01', 'Latvian Lats', 'Council Regulation (EU) No 870/2013'],
  ['MRO', 'MRU', 10, '2018-01-01', 'Mauritanian Ouguiya (to 2017)', 'ISO 4217 amendment 165'],
  ['MTL', 'EUR', 0.4293, '2008-01-01', 'Maltese Lira', 'Council Regulation (EC) No 1134/2007'],
  ['MZM', 'MZN', 1000, '2006-07-01', 'Mozambican Metical (to 2006)', 'Bank of Mozambique'],
  ['NLG', 'EUR', 2.20371, '1999-01-01', 'Dutch Guilder', EURO],
  ['PLZ', 'PLN', 10_000, '1995-01-01', 'Polish Złoty (to 1994)', 'Poland, Act of 7 July 1994'],
  ['PTE', 'EUR', 200.482, '1999-01-01', 'Portuguese Escudo', EURO],
  ['ROL', 'RON', 10_000, '2005-07-01', 'Romanian Leu (to 2005)', 'Romania, Law 348 of 2004'],
  ['RUR', 'RUB', 1000, '1998-01-01', 'Russian Ruble (to 1997)', 'Russia, Decree 822 of 1997'],
  ['SIT', 'EUR', 239.64, '2007-01-01', 'Slovenian Tolar', 'Council Regulation (EC) No 1086/2006'],
  ['SKK', 'EUR', 30.126, '2009-01-01', 'Slovak Koruna', 'Council Regulation (EC) No 694/2008'],
  ['SLL', 'SLE', 1000, '2022-07-01', 'Sierra Leonean Leone (to 2022)', 'Bank of Sierra Leone'],
  [
    'STD',
    'STN',
    1000,
    '2018-01-01',
    'São Tomé and Príncipe Dobra (to 2017)',
    'ISO 4217 amendment 164',
  ],
  [
    'TMM',
    'TMT',
    5000,
    '2009-01-01',
    'Turkmenistani Manat (to 2008)',
    'Central Bank of Turkmenistan',
  ],
  ['TRL', 'TRY', 1_000_000, '2005-01-01', 'Turkish Lira (to 2004)', 'Turkey, Law 5083 of 2004'],
  ['VEB', 'VEF', 1000, '2008-01-01', 'Venezuelan Bolívar', 'Venezuela, Decree-Law 5.229 of 2007'],
  ['VEF', 'VES', 100_000, '2018-08-20', 'Bolívar Fuerte', 'Venezuela, Decree 3.548 of 2018'],
  ['XEU', 'EUR', 1, '1999-01-01', 'European Currency Unit', 'Council Regulation (EC) No 1103/97'],
  ['ZMK', 'ZMW', 1000, '2013-01-01', 'Zambian Kwacha (to 2012)', 'Zambia, Act 8 of 2012'],
  ['ZWL', 'ZWG', 2498.7242, '2024-04-05', 'Zimbabwean Dollar', 'ISO 4217 amendment 177'],
]

/**
 * Currencies that feeds and clients still name after their end, sorted by code. Only rows whose date and ratio are
 * certain are here, so a code that is missing may be withdrawn all the same.
 */
export const withdrawnCurrencies: readonly WithdrawnCurrency[] = rows.map(
  ([code, successor, ratio, withdrawnAt, name, source]) => ({
    code,
    name,
    withdrawnAt,
    successor,
    ratio,
    source,
  }),
)

const byCode: ReadonlyMap<string, WithdrawnCurrency> = new Map(
  withdrawnCurrencies.map((currency) => [currency.code, currency]),
)

/** The withdrawn currency with exactly this upper-case code. */
export function findWithdrawn(code: string): WithdrawnCurrency | undefined {
  return byCode.get(code)
}
