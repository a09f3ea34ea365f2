--- The rules of freshness for servers that push: the proof that the publishes for a text give.
--
-- They are those of src/diagnostics/server/push_freshness.rs. One table of cases, tests/fixtures/freshness.json, holds
-- for both. They differ in a list from before a change elsewhere: somebody waits here, and many servers publish only the
-- lists that change. So it is a guess after a silence, which makes the answer partial.
local M = {}

---@class sextant.PushHabits
---@field one_file boolean? it looks at one file at a time
---@field once boolean? it is known to publish a version once and whole: only then does a version prove anything
---@field two_phase boolean? it was seen to publish twice for one version
---@field reads_disk boolean? it gets saves and not changes: the version that it names is that of the opening
---@field quiet_ms integer the silence that ends a list without proof

---@class sextant.PushedText
---@field version integer
---@field is_newest boolean no text that it may depend on has changed since
---@field epoch integer the last change that may concern it
---@field is_doubtful boolean? its next publish may be of an old preamble
---@field is_reopened boolean? it was opened again, so a list is to come
---@field asked_at integer? milliseconds

--- The publish that counts after another one: not that of another version behind one that may be of this text.
---@param before sextant.Publish?
---@param publish sextant.Publish
---@param version integer? of the text
---@return sextant.Publish
function M.newest(before, publish, version)
  local is_other = publish.version and publish.version ~= version
  local is_known = before and (before.version == version or not before.version)
  return is_other and is_known and before or publish
end

--- The proof that a publish gives: how it is known, or the milliseconds of silence that are still needed. Both are nil
--- where another publish is needed.
---@param text sextant.PushedText
---@param publish sextant.Publish
---@param habits sextant.PushHabits
---@param now integer milliseconds
---@return 'versioned'|'quiet'|nil
---@return integer? ms
function M.judge(text, publish, habits, now)
  local is_ours = publish.version == text.version
  local left = habits.quiet_ms - (now - publish.at)
  local proves = not habits.reads_disk and (habits.one_file or text.is_newest) and not publish.ambiguous
  if proves and is_ours then
    if text.is_doubtful then
      return nil, nil
    elseif (habits.two_phase or not habits.once) and left > 0 then
      return nil, left
    end
    return habits.once and 'versioned' or 'quiet', nil
  end
  local is_since = habits.one_file or publish.epoch == text.epoch
  if not is_since and is_ours and not habits.reads_disk and not text.is_reopened then
    local rest = habits.quiet_ms - (now - math.max(publish.at, text.asked_at or 0))
    if rest > 0 then
      return nil, rest
    end
    return 'quiet', nil
  end
  if not is_since or not (is_ours or not publish.version or habits.reads_disk) then
    return nil, nil
  elseif left > 0 then
    return nil, left
  end
  return 'quiet', nil
end

return M
