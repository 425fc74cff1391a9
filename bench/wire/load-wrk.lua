-- Prints the results of wrk as a line of JSON. With a target and a number after `--`, each request appends the next number
-- to the target; with a count as well, 1 follows after that number.
function init(args)
  if #args < 2 then return end
  local head, number, count = "GET " .. args[1], tonumber(args[2]), tonumber(args[3] or math.huge)
  local tail = " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\n\r\n"
  request = function()
    number = number < count and number + 1 or 1
    return head .. string.format("%d", number) .. tail
  end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"cpu":%f,"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, os.clock(),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
