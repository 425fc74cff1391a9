/** Whether proofs that repeat something very often do so less often: `PROOFS=short`, before each landing. */
export const IS_SHORT: boolean = process.env['PROOFS'] === 'short'
