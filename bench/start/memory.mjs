// Preloaded into a server (`--import`): after the signal SIGUSR2, prints the least memory of its process in some samples, in
// bytes, as JSON. Needs `--expose-gc`.

/** Number and interval (ms) of samples: closed resources exist for some turns of the event loop. */
const SAMPLES = 10
const SAMPLE_INTERVAL_MS = 20

process.once('SIGUSR2', () => void report())

async function report() {
  const least = { heap: Infinity, external: Infinity, rss: Infinity }
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_INTERVAL_MS))
    // Some objects become garbage only after a first collection.
    for (let round = 0; round < 3; round += 1) globalThis.gc()
    const { heapUsed: heap, external, rss } = process.memoryUsage()
    for (const [name, bytes] of Object.entries({ heap, external, rss })) {
      least[name] = Math.min(least[name], bytes)
    }
  }
  process.stdout.write(`${JSON.stringify(least)}\n`)
}
