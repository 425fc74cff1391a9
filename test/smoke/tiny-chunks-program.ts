// Receives a body in chunks of one byte, as the settings say, and prints its outcome. Run with a heap that is too small for
// an object per chunk.
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { readText } from '../../src/upstream/request.ts'
import { reportToParent, settingsFromParent } from '../system/child.ts'

export type TinyChunks = 'upload' | 'upstream'

const BYTES = 1_048_576
const BODY = '[{"from":"USD","to":"EUR"}]'.padEnd(BYTES)

const given: TinyChunks = JSON.parse(settingsFromParent())
reportToParent(given === 'upload' ? await upload() : await readUpstream())

async function upload(): Promise<number> {
  const handler = createRatesHandler({ providers: fakeProviders() })
  const { status } = await handler.answer({
    method: 'POST',
    target: '/api/v1/convert',
    header: (name) => (name === 'content-type' ? 'application/json' : undefined),
    async readBody(onChunk) {
      for (let at = 0; at < BYTES; at += 1) onChunk(Uint8Array.of(BODY.charCodeAt(at)))
    },
  })
  return status
}

async function readUpstream(): Promise<number> {
  let at = 0
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const end = Math.min(at + 1_024, BYTES)
      for (; at < end; at += 1) controller.enqueue(Uint8Array.of(BODY.charCodeAt(at)))
      if (at === BYTES) controller.close()
    },
  })
  const { status, body } = await readText(
    {
      fetch: async () => new Response(stream),
      url: 'https://rates.example/table',
      signal: new AbortController().signal,
      now: Date.now,
      maxBytes: BYTES,
      redirectHosts: [],
    },
    'text/csv',
  )
  if (body !== BODY) throw new Error('the text differs')
  return status
}
