import { describe, expect, it } from 'vitest'

import { isCode, isCodeShaped } from '../../src/rates/currency-code.ts'

describe('the form of a currency code', () => {
  it.each(['EUR', 'AAA', 'ZZZ', 'AZM'])('is that of %s', (text) => {
    expect([isCode(text), isCodeShaped(text)]).toEqual([true, true])
  })

  it.each(['eur', 'Eur', 'eUR', 'EUr', 'aaa', 'zzz'])('is that of %s, but not in data', (text) => {
    expect([isCode(text), isCodeShaped(text)]).toEqual([false, true])
  })

  const nearly = [
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
  const besideLetters = ['@AA', 'A@A', 'AA@', '[AA', 'A[A', 'AA[', '`aa', 'a`a', 'aa{', '{aa']

  it.each([...nearly, ...besideLetters])('is not that of %j', (text) => {
    expect([isCode(text), isCodeShaped(text)]).toEqual([false, false])
  })

  it.each([undefined, null, 840, ['E', 'U', 'R'], { length: 3 }, new String('EUR')])(
    'is not that of %j, which is no text',
    (value) => {
      expect([isCode(value), isCodeShaped(value)]).toEqual([false, false])
    },
  )
})
