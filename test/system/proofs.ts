/** Whether proofs repeat less often: `PROOFS=short`, before each merge. */
export const IS_SHORT: boolean = process.env['PROOFS'] === 'short'
