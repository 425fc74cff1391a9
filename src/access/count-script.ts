import type { SharedReply, SharedRequest } from './shared-count.ts'

/**
 * `count` for Redis. `KEYS[1]` is the state; `ARGV` has the members of `SharedRequest` in their order, and in tests the time
 * instead of that of the server. Replies with the members of `SharedReply` in their order.
 */
export const COUNT_SCRIPT: string = `local arg = {}
for i = 1, 15 do arg[i] = tonumber(ARGV[i]) end
local quota, window, life, monthQuota = arg[1], arg[2], arg[3], arg[4]
local need, immediate, ahead = arg[9], arg[10], arg[11]
local unused, unusedAt, refund, refundAt = arg[12], arg[13], arg[14], arg[15]
local now = tonumber(ARGV[16])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local state = {}
local text = redis.pcall('GET', KEYS[1])
if type(text) == 'string' then
  state = {string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')}
  for i = 1, #state do
    if state[i] and #state[i] > 16 then state = {} end
  end
end
for i = 1, 7 do state[i] = tonumber(state[i] or 0) end
local arrival, since, period, lent, before = state[1], state[2], state[3], state[4], state[5]
local monthEnd, used = state[6], state[7]

local monthStart, nextMonth
for i = 8, 6, -1 do
  if arg[i] > now then monthStart, nextMonth = arg[i - 1], arg[i] end
end
if not nextMonth or monthStart > now then return redis.error_reply('ERR clocks are months apart') end
if monthQuota == 0 then nextMonth = 0 end
if monthEnd ~= nextMonth then used = 0 end
monthEnd = nextMonth

local function timeOf(permits) return ceil(permits * window / quota) end
if unused > 0 and unusedAt >= monthStart then used = max(0, used - unused) end
if refund > 0 and refundAt >= monthStart then used = max(0, used - refund) end
local deficit = 0
if quota > 0 then
  local current = floor(now / (2 * life))
  arrival = min(arrival, now + window)
  since = min(since, now)
  if period > 0 and period < current then
    before = period == current - 1 and lent or 0
    lent = 0
    period = current
  end
  if arrival + life <= now and lent + before == 0 then period = 0 end
  deficit = max(0, arrival - now)
  local returned = min(unused, lent + before)
  if returned > 0 and unusedAt <= now and now - unusedAt <= 2 * life then
    local others = deficit - timeOf(lent + before)
    local back = floor(returned * window / quota)
    if unusedAt >= since then back = back + min(0, others) else back = back - (now - unusedAt) end
    deficit = max(0, deficit - max(0, back))
    local early = min(before, returned)
    before = before - early
    lent = lent - (returned - early)
  end
  if refund > 0 and refundAt <= now then
    local others = max(0, deficit - timeOf(lent + before))
    local back = floor(refund * window / quota)
    if refundAt < since or refund > 10 then back = back - (now - refundAt) end
    deficit = deficit - max(0, min(back, others))
  end
end

local capacity = (quota == 0 or period == 0) and window or window - life
local charge = 0
if quota > 0 then charge = min(timeOf(need), capacity) end
local left = math.huge
if monthQuota > 0 then left = monthQuota - used end
local granted, taken = 0, 0
if deficit + charge <= capacity and min(need, monthQuota) <= left and need > 0 then
  local room = math.huge
  if quota > 0 then room = floor((capacity - deficit) * quota / window) end
  local direct = max(need, min(immediate, room, left))
  local extra = 0
  if ahead > 0 then
    local rest, share = left - direct, 1
    if quota > 0 then
      local free = window - life - deficit - timeOf(direct)
      rest = min(rest, floor(free * quota / window))
      share = ceil(quota * life / window / 5)
    end
    extra = max(0, min(ahead, max(floor(rest / 10), min(rest, share))))
  end
  granted = direct + extra
  if quota > 0 then
    taken = granted > need and timeOf(granted) or charge
    if deficit <= timeOf(lent + before + 10) then since = now end
    if extra > 0 then
      period = max(period, floor(now / (2 * life)))
      lent = lent + extra
      capacity = window - life
    end
  end
  if monthQuota > 0 then used = used + min(granted, left) end
end
if deficit + taken > 0 then arrival = now + deficit + taken end

local function join(numbers)
  for i = 1, #numbers do numbers[i] = string.format('%.0f', numbers[i]) end
  return table.concat(numbers, ' ')
end
local keepFor = max(arrival + life - now, period > 0 and 4 * life or 0, used > 0 and monthEnd - now or 0, 1)
redis.call('SET', KEYS[1], join({arrival, since, period, lent, before, monthEnd, used}),
  'PX', string.format('%.0f', ceil(keepFor / 1000)))
return join({granted, now, deficit + taken, capacity, used, monthEnd})
`

export function argumentsOf(request: SharedRequest): string[] {
  const { quota, window, life, monthQuota, months, need, immediate, ahead } = request
  const { unused, unusedAt, refund, refundAt } = request
  return [quota, window, life, monthQuota, ...months, need, immediate, ahead]
    .concat(unused, unusedAt, refund, refundAt)
    .map(String)
}

const REPLY = /^\d{1,16}( \d{1,16}){5}$/

/** @throws {Error} if it is not a reply of `COUNT_SCRIPT` */
export function parseReply(reply: unknown): SharedReply {
  // Some clients return bytes.
  const text = String(reply)
  if (!REPLY.test(text)) throw new Error('counters: unexpected reply')
  const [granted = 0, now = 0, deficit = 0, capacity = 0, used = 0, monthEnd = 0] = text
    .split(' ')
    .map(Number)
  return { granted, now, deficit, capacity, used, monthEnd }
}
