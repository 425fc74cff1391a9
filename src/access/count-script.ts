import type { Change, Counted, Terms } from './count.ts'

/**
 * `count` for Redis. `KEYS[1]` is the state; `ARGV` has the members of `Terms` and of `Change` in their order, and in tests
 * the time instead of that of the server. Replies with the members of `Counted`, without the drain.
 */
export const COUNT_SCRIPT: string = `local arg = {}
for i = 1, 10 do arg[i] = tonumber(ARGV[i]) end
local unit, drain, capacity, quota, month = unpack(arg, 1, 5)
local cost, back, takenAt, known, knownAt = unpack(arg, 6, 10)
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local now = tonumber(ARGV[11])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local function startOfMonth(time)
  local day = floor(time / 86400000)
  local e = (day + 719468) % 146097
  local y = floor((e - floor(e / 1460) + floor(e / 36524) - floor(e / 146096)) / 365)
  local d = e - 365 * y - floor(y / 4) + floor(y / 100)
  return (day - d + floor((153 * floor((5 * d + 2) / 153) + 2) / 5)) * 86400000
end
local start = startOfMonth(now)
local level, former, at, used, since = 0, drain, now, 0, now
local text = redis.pcall('GET', KEYS[1])
local state = {string.match(type(text) == 'string' and text or '', '^(%d+) (%d+) (%d+) (%d+) (%d+)$')}
local isState = #state == 5
for i = 1, #state do isState = isState and #state[i] <= 16 end
if isState then
  for i = 1, 5 do state[i] = tonumber(state[i]) end
  level, former, at, used, since = unpack(state)
end
if former ~= drain then level = former > 0 and ceil(level / former * drain) or 0 end
if at < start then used = 0 end
if knownAt >= start and (at < knownAt or since > knownAt) then used = max(used, known) end
if back > 0 then
  local left = min(back, quota) * unit - (at - takenAt) * drain
  if takenAt >= since and takenAt <= at then level = max(0, level - max(0, left)) end
  local isCounted = takenAt >= since or takenAt <= knownAt
  if isCounted and takenAt >= start then used = max(0, used - back) end
end
level = min(capacity, max(0, level - max(0, now - at) * drain))
since = min(since, now)
local burstCost, monthCost = min(cost, quota) * unit, min(cost, month)
local fitsMonth = monthCost == 0 or used + monthCost <= month
local granted = level + burstCost <= capacity and fitsMonth
if granted then level, used = level + burstCost, used + monthCost end
local function join(numbers)
  for i = 1, #numbers do numbers[i] = string.format('%.0f', numbers[i]) end
  return table.concat(numbers, ' ')
end
if cost > 0 or back > 0 then
  local nextMonth = startOfMonth(start + 31 * 86400000)
  local untilWhole = drain > 0 and ceil(level / drain) or 0
  local keepFor = max(untilWhole, (month > 0 or used > 0) and nextMonth - now or 0, 1)
  redis.call('SET', KEYS[1], join({level, drain, now, used, since}), 'PX', string.format('%.0f', keepFor))
end
return join({granted and 1 or 0, level, now, used, since})
`

export function argumentsOf(terms: Terms, change: Change): string[] {
  const { unit, drain, capacity, quota, month } = terms
  const { cost, back, takenAt, known, knownAt } = change
  return [unit, drain, capacity, quota, month, cost, back, takenAt, known, knownAt].map(String)
}

const REPLY = /^[01]( \d{1,16}){4}$/

/** @throws {Error} if it is not a reply of `COUNT_SCRIPT` */
export function parseReply(reply: unknown, { drain }: Terms): Counted {
  // Some clients return bytes.
  const text = String(reply)
  if (!REPLY.test(text)) throw new Error('counters: unexpected reply')
  const [granted, level = 0, at = 0, used = 0, since = 0] = text.split(' ').map(Number)
  return { granted: granted === 1, level, drain, at, used, since }
}
