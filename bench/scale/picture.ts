/** A chart of the picture. */
export interface Chart {
  title: string
  /** By size, ascending. */
  points: readonly Point[]
}

/** Throughput at one size, in requests per second. */
export interface Point {
  /** The place on the horizontal axis, which is logarithmic: a number above 0. */
  size: number
  label: string
  ratesmith: number
  bare: number
}

const COLUMNS = 2
const HEAD = 74
const PANEL = { width: 400, height: 234 }
/** Edges of the axes in a panel. */
const AXES = { left: 62, right: 376, top: 30, bottom: 196 }
/** Distance of the first and the last point from the ends of an axis. */
const INSET = 16
const MAX_TICKS = 6

// An image on a page has no theme but that of the system; so it brings its own background.
const STYLE = `
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #59636e }
.head { font-size: 16px; font-weight: 600; fill: #1f2328 }
.title { font-size: 13px; font-weight: 600; fill: #1f2328 }
.paper { fill: #ffffff }
.axis { stroke: #818b98 }
.grid { stroke: #d1d9e0 }
.ratesmith { fill: #0969da; stroke: #0969da }
.bare { fill: #bc4c00; stroke: #bc4c00 }
polyline { stroke-width: 2; fill: none }
.bare polyline { stroke-dasharray: 6 4 }
.bare circle { fill: #ffffff; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 }
  .head, .title { fill: #f0f6fc }
  .paper, .bare circle { fill: #0d1117 }
  .axis { stroke: #656c76 }
  .grid { stroke: #2f353d }
  .ratesmith { fill: #4493f8; stroke: #4493f8 }
  .bare { fill: #f0883e; stroke: #f0883e }
}
`

/** In the order in which they are drawn: where both meet, the larger circle stays visible. */
const LINES = [
  { name: 'bare', title: 'bare node:http, the same bytes', radius: 5, legendAt: 292 },
  { name: 'ratesmith', title: 'ratesmith, toNodeHandler', radius: 4, legendAt: AXES.left },
] as const

type Line = (typeof LINES)[number]

/** Draws the charts as an SVG image, with the same vertical axis in all of them. */
export function drawGrowth(charts: readonly Chart[]): string {
  const rates = charts.flatMap(({ points }) =>
    points.flatMap((point) => [point.ratesmith, point.bare]),
  )
  const ticks = ticksUpTo(Math.max(...rates))
  const width = COLUMNS * PANEL.width
  const height = HEAD + Math.ceil(charts.length / COLUMNS) * PANEL.height
  const panels = charts.map((chart, index) => {
    const x = (index % COLUMNS) * PANEL.width
    const y = HEAD + Math.floor(index / COLUMNS) * PANEL.height
    return `<g transform="translate(${x} ${y})">\n${drawPanel(chart, ticks)}\n</g>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>Requests per second: ${escapeXml(charts.map(({ title }) => title).join('; '))}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    drawText({ x: AXES.left, y: 28, name: 'head' }, 'Requests per second'),
    ...LINES.map(drawLegend),
    drawText(
      { x: width - PANEL.width + AXES.right, y: 54, anchor: 'end' },
      'horizontal axes are logarithmic',
    ),
    ...panels,
    '</svg>',
    '',
  ].join('\n')
}

function drawLegend(line: Line): string {
  const { legendAt: x, title } = line
  const ends = [x, x + 14, x + 28].map((across) => [across, 50] as const)
  return drawLine(line, ends, ends.slice(1, 2)) + drawText({ x: x + 36, y: 54 }, title)
}

function drawPanel({ title, points }: Chart, ticks: readonly number[]): string {
  const { left, right, top, bottom } = AXES
  const x = placesOf(points)
  const y = (rate: number): number => bottom - (rate / (ticks.at(-1) ?? NaN)) * (bottom - top)
  const axis = ticks.map((tick) => {
    const path = `M${left} ${round(y(tick))}H${right}`
    const label = tick.toLocaleString('en')
    return (
      `<path class="${tick === 0 ? 'axis' : 'grid'}" d="${path}"/>` +
      drawText({ x: left - 8, y: y(tick) + 4, anchor: 'end' }, label)
    )
  })
  const labels = points.map(({ label }, index) =>
    drawText({ x: x[index] ?? NaN, y: bottom + 18, anchor: 'middle' }, label),
  )
  const lines = LINES.map((line) =>
    drawLine(
      line,
      points.map((point, index) => [x[index] ?? NaN, y(point[line.name])]),
    ),
  )
  const upright = `<path class="axis" d="M${left} ${top}V${bottom}"/>`
  const heading = drawText({ x: left, y: 16, name: 'title' }, title)
  return [heading, ...axis, upright, ...labels, ...lines].join('\n')
}

/** Returns the horizontal places of the points; a single one is in the middle. */
function placesOf(points: readonly Point[]): number[] {
  const logs = points.map(({ size }) => Math.log(size))
  const [first, last] = [Math.min(...logs), Math.max(...logs)]
  const [start, end] = [AXES.left + INSET, AXES.right - INSET]
  return logs.map((log) =>
    last === first ? (start + end) / 2 : start + ((log - first) / (last - first)) * (end - start),
  )
}

/** Returns round numbers from 0 to the first that is not below `max`. */
function ticksUpTo(max: number): number[] {
  const power = 10 ** Math.floor(Math.log10(max))
  const steps = [0.2, 0.25, 0.5, 1, 2].map((factor) => factor * power)
  const step = steps.find((each) => Math.ceil(max / each) < MAX_TICKS) ?? max
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step)
}

interface TextPlace {
  x: number
  y: number
  name?: string
  anchor?: 'middle' | 'end'
}

function drawText({ x, y, name, anchor }: TextPlace, text: string): string {
  const traits = (name ? ` class="${name}"` : '') + (anchor ? ` text-anchor="${anchor}"` : '')
  return `<text x="${round(x)}" y="${round(y)}"${traits}>${escapeXml(text)}</text>`
}

type Place = readonly [x: number, y: number]

function drawLine({ name, radius }: Line, path: readonly Place[], circled = path): string {
  const corners = path.map((place) => place.map(round).join())
  const circles = circled.map(
    ([x, y]) => `<circle cx="${round(x)}" cy="${round(y)}" r="${radius}"/>`,
  )
  return `<g class="${name}"><polyline points="${corners.join(' ')}"/>${circles.join('')}</g>`
}

function round(length: number): number {
  return Math.round(length * 10) / 10
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
