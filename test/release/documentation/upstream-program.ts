// Loaded before a program: redirects its requests for other machines to the server that the environment names.
import process from 'node:process'

const upstream = process.env['DOCUMENTATION_UPSTREAM']
const { fetch } = globalThis

globalThis.fetch = (input, init) => {
  const request = new Request(input, init)
  const { protocol, host, hostname, pathname, search } = new URL(request.url)
  const isHere = hostname === '127.0.0.1' || hostname === 'localhost'
  if (isHere || !protocol.startsWith('http')) return fetch(request)
  return fetch(new Request(`${upstream}/${host}${pathname}${search}`, request))
}
