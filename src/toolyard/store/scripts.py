"""What the store does in one step, in its own language (Lua). Each may be repeated without harm.

Those that write under a lease get it as the last key and the first argument, empty for none,
and answer -1 where it is lost. Time is the store's own.
"""

from __future__ import annotations

import hashlib


class Script:
    def __init__(self, text: str) -> None:
        self.text = text
        # The name by which the store knows it; nothing is kept secret by it.
        self.digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


_UNDER_LEASE = """
if ARGV[1] ~= '' and redis.call('GET', KEYS[2]) ~= ARGV[1] then return -1 end
"""
# A record is its version, eight bytes, and then its value. '*' stands for any version.
_VERSION = """
if ARGV[2] ~= '*' and redis.call('GETRANGE', KEYS[1], 0, 7) ~= ARGV[2] then return 0 end
"""
_NOW = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
"""

WRITE = Script(f"""{_UNDER_LEASE}{_VERSION}
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
""")

ERASE = Script(f"""{_UNDER_LEASE}{_VERSION}
return redis.call('DEL', KEYS[1])
""")

# A lease is its fence and its holder. The fence is the time: no counter has to outlive it.
TAKE = Script("""
local held = redis.call('GET', KEYS[1])
if held then
  local fence, holder = held:match('^(%d+) (.*)$')
  if holder ~= ARGV[1] then return false end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return fence
end
local time = redis.call('TIME')
local fence = string.format('%.0f', time[1] * 1000000 + time[2])
redis.call('SET', KEYS[1], fence .. ' ' .. ARGV[1], 'PX', ARGV[2])
return fence
""")

RENEW = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")

RELEASE = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
""")

APPEND = Script(f"""{_UNDER_LEASE}
local most, oldest, lasts, channel = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
for i = 6, #ARGV, 2 do
  local added = redis.pcall('XADD', KEYS[1], 'MAXLEN', most, ARGV[i] .. '-0', 'e', ARGV[i + 1])
  -- A number that is not above the last was there before.
  if type(added) == 'table' and added.err and not added.err:find('equal or smaller') then
    return added
  end
end
if oldest ~= '0' then redis.call('XTRIM', KEYS[1], 'MINID', oldest .. '-0') end
redis.call('PEXPIRE', KEYS[1], lasts)
redis.call('PUBLISH', channel, '')
return 1
""")

# What is given back is wanted less than nothing.
ALLOW = Script(f"""{_NOW}
local most, seconds, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local left = most
local kept = redis.call('GET', KEYS[1])
if kept then
  local before, at = kept:match('^(%S+) (%S+)$')
  left = math.min(most, before + math.max(0, now - at) * most / seconds)
end
local granted = math.min(wanted, math.floor(left))
if granted == 0 then return {{0, string.format('%.6f', (1 - left) * seconds / most)}} end
left = math.min(most, left - granted)
local text = string.format('%.6f %.6f', left, now)
redis.call('SET', KEYS[1], text, 'PX', math.ceil(seconds * 1000))
return {{granted, '0'}}
""")

# A member of a hash is the time at which it is forgotten, and then its value.
_KEEP = """
local function keep(member, value, seconds)
  redis.call('HSET', KEYS[1], member, string.format('%.3f ', now + seconds) .. value)
  local lasts = math.ceil(seconds * 1000)
  if redis.call('PTTL', KEYS[1]) < lasts then redis.call('PEXPIRE', KEYS[1], lasts) end
end
"""

OCCUPY = Script(f"""{_NOW}{_KEEP}
local holder, wanted, most, seconds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local own, others = 0, 0
local seats = redis.call('HGETALL', KEYS[1])
for i = 1, #seats, 2 do
  local till, count = seats[i + 1]:match('^(%S+) (%d+)$')
  if tonumber(till) <= now then
    redis.call('HDEL', KEYS[1], seats[i])
  elseif seats[i] == holder then
    own = tonumber(count)
  else
    others = others + count
  end
end
local has = math.min(wanted, math.max(own, most - others))
if has == 0 then redis.call('HDEL', KEYS[1], holder) else keep(holder, has, tonumber(seconds)) end
return has
""")

JOIN = Script(f"""{_NOW}{_KEEP}
local members = redis.call('HGETALL', KEYS[1])
for i = 1, #members, 2 do
  if tonumber(members[i + 1]:match('^(%S+) ')) <= now then
    redis.call('HDEL', KEYS[1], members[i])
  end
end
keep(ARGV[1], ARGV[2], tonumber(ARGV[3]))
return 1
""")

MEMBERS = Script(f"""{_NOW}
local alive = {{}}
local members = redis.call('HGETALL', KEYS[1])
for i = 1, #members, 2 do
  local till, value = members[i + 1]:match('^(%S+) (.*)$')
  if tonumber(till) > now then
    alive[#alive + 1] = members[i]
    alive[#alive + 1] = value
  end
end
return alive
""")
