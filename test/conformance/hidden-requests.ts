/** A request that two readers may take for one or for two, as they heed one header or another. */
export interface HiddenRequest {
  name: string
  text: string
}

/** What only the answer to a hidden request holds. */
export const HIDDEN_ANSWER = '"amount":4711,'

/** Requests with another hidden behind or in their bodies; `prefix` stands before every path. */
export function hiddenRequests(prefix: string): HiddenRequest[] {
  const hidden = `GET ${prefix}/api/v1/convert?from=USD&to=USD&amount=4711 HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const length = `Content-Length: ${hidden.length}`
  const chunked = 'Transfer-Encoding: chunked'
  const chunks = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
  const behind = `0\r\n\r\n${hidden}`

  function of(name: string, headers: string[], body: string, method = 'POST'): HiddenRequest {
    const head = [`${method} ${prefix}/api/v1/latest HTTP/1.1`, 'Host: localhost', ...headers]
    return { name, text: `${head.join('\r\n')}\r\n\r\n${body}` }
  }

  return [
    of('a body of its length', [length], hidden),
    of('a body of its length, of GET', [length], hidden, 'GET'),
    of('chunks', [chunked], chunks),
    of('chunks, of GET', [chunked], chunks, 'GET'),
    of('what is behind the chunks, by a length', ['Content-Length: 5', chunked], behind),
    of('chunks, by a length', [chunked, 'Content-Length: 4'], chunks),
    of('what is behind the chunks, by another coding', [chunked, 'Transfer-Encoding: x'], behind),
    of('a body, by a coding with a space', [length, 'Transfer-Encoding : chunked'], hidden),
    of('a body, by a coding with a tab', [length, 'Transfer-Encoding:\u000bchunked'], hidden),
    of('a body, by two lengths', ['Content-Length: 0', length], hidden),
    of('a body, by a length with a sign', [`Content-Length: +${hidden.length}`], hidden),
  ]
}
