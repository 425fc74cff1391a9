import { describe, expect, it } from 'vitest'

import { isCode, isCodeShaped } from '../../src/rates/currency-code.ts'

const NEARLY = [
  '',
  'E',
  'EU',
  'EURO',
  ' EUR',
  'EUR ',
  'EUR\n',
  'E R',
  '€UR',
  'ÉUR',
  'ＥＵＲ',
  '007',
]
const NEXT_TO_LETTERS = '@AA A@A AA@ [AA A[A AA[ `aa a`a aa{ {aa'.split(' ')
const NO_TEXTS = [undefined, null, 840, ['E', 'U', 'R'], { length: 3 }, new String('EUR')]

describe('the form of a currency code', () => {
  it.each(['EUR', 'AAA', 'ZZZ', 'AZM'])('is that of %s', (text) => {
    expect([isCode(text), isCodeShaped(text)]).toEqual([true, true])
  })

  it.each(['eur', 'Eur', 'eUR', 'EUr', 'aaa', 'zzz'])('is that of %s, but not in data', (text) => {
    expect([isCode(text), isCodeShaped(text)]).toEqual([false, true])
  })

  it.each([...NEARLY, ...NEXT_TO_LETTERS, ...NO_TEXTS])('is not that of %j', (value) => {
    expect([isCode(value), isCodeShaped(value)]).toEqual([false, false])
  })
})
