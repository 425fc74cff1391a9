export type {
  BankFactory,
  BankOptions,
  KeyedBankFactory,
  KeyedBankOptions,
} from '../upstream/bank.ts'
export { createBancaDItaliaProvider } from './banks/banca-d-italia.ts'
export { createBankOfCanadaProvider } from './banks/bank-of-canada.ts'
export { createBankOfEnglandProvider } from './banks/bank-of-england.ts'
export { createBankOfIsraelProvider } from './banks/bank-of-israel.ts'
export { createBanxicoProvider } from './banks/banxico.ts'
export { createBcbProvider } from './banks/bcb.ts'
export { createBnrProvider } from './banks/bnr.ts'
export { createCbrProvider } from './banks/cbr.ts'
export { createCnbProvider } from './banks/cnb.ts'
export { createDanmarksNationalbankProvider } from './banks/danmarks-nationalbank.ts'
export { createFbilProvider } from './banks/fbil.ts'
export { createFredProvider } from './banks/fred.ts'
export { createHmrcProvider } from './banks/hmrc.ts'
export { createImfProvider } from './banks/imf.ts'
export { createMnbProvider } from './banks/mnb.ts'
export { createNbpProvider } from './banks/nbp.ts'
export type { NbpOptions } from './banks/nbp.ts'
export { createNbuProvider } from './banks/nbu.ts'
export { createNorgesBankProvider } from './banks/norges-bank.ts'
export { createRbaProvider } from './banks/rba.ts'
export { createRiksbankProvider } from './banks/riksbank.ts'
export { createTcmbProvider } from './banks/tcmb.ts'
export { createUsTreasuryProvider } from './banks/us-treasury.ts'
export { createCurrencyapiProvider } from './currencyapi.ts'
export type { CurrencyapiOptions } from './currencyapi.ts'
export { OFFICIAL_PEGS, fixed, overlay, pegged } from './derived.ts'
export type {
  Derivation,
  Derived,
  FixedRatio,
  OfficialPeg,
  OverlayOptions,
  OwnRates,
} from './derived.ts'
export { createEcbDataApiProvider, createEcbProvider } from './ecb.ts'
export type { EcbDataApiOptions, EcbOptions } from './ecb.ts'
export { createExchangeRateApiProvider } from './exchange-rate-api.ts'
export type { ExchangeRateApiOptions } from './exchange-rate-api.ts'
export { createExchangeRateApiV6Provider } from './exchange-rate-api-v6.ts'
export type { ExchangeRateApiV6Options } from './exchange-rate-api-v6.ts'
export { createFawazahmed0Provider } from './fawazahmed0.ts'
export type { Fawazahmed0Options } from './fawazahmed0.ts'
export { createFrankfurterProvider } from './frankfurter.ts'
export type { FrankfurterOptions } from './frankfurter.ts'
export { createFrankfurterV2Provider } from './frankfurter-v2.ts'
export type { FrankfurterV2Options } from './frankfurter-v2.ts'
export { createOpenExchangeRatesProvider } from './open-exchange-rates.ts'
export type { OpenExchangeRatesOptions } from './open-exchange-rates.ts'
