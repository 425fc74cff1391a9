import { describe, it } from 'vitest'

import { expectGoodStore } from './store-trial.ts'

// In workerd it is tried in workerd.test.ts.
describe('the Cache API', () => {
  it('is a good store on Deno', async () => {
    await expectGoodStore('Deno', 'cache-api')
  })
})
