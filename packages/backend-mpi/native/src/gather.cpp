#include "gather.h"

#include <algorithm>
#include <utility>

namespace tandem {

namespace {

void unite(Sayings &all, const std::string &text, const Saying &saying) {
  const auto [place, added] = all.emplace(text, saying);
  if (added) return;
  auto &known = place->second;
  known = {std::min(known.rank, saying.rank), std::max(known.number, saying.number)};
}

Bytes written(const Sayings &sayings) {
  RecordWriter writer;
  writer.number(static_cast<std::uint32_t>(sayings.size()));
  for (const auto &[text, saying] : sayings) writer.number<std::int32_t>(saying.rank).number(saying.number).text(text);
  return writer.take();
}

void readInto(Sayings &all, RecordReader &reader) {
  for (auto left = reader.number<std::uint32_t>(); left > 0; --left) {
    const auto rank = reader.number<std::int32_t>();
    const auto number = reader.number<double>();
    unite(all, reader.text(), {rank, number});
  }
}

} // namespace

Gathers::Gathers(int rank, int size, Send send) : rank_(rank), send_(std::move(send)) {
  for (int bit = 1; bit < size && (rank & bit) == 0; bit <<= 1) {
    if (rank + bit < size) children_.push_back(rank + bit);
  }
}

void Gathers::start(Key key, const std::string &text, double number, Settle settle, bool awaited) {
  auto &state = states_[key];
  if (state.started) throw NativeError("validation", "Key " + std::to_string(key.number) + " is used twice.");
  state.started = true;
  state.settle = std::move(settle);
  state.awaited = awaited;
  if (awaited) ++awaited_;
  unite(state.sayings, text, {rank_, number});
  advance(key, state);
}

void Gathers::receivedUp(Key key, int child, RecordReader &reader) {
  auto &state = states_[key];
  state.heard.push_back(child);
  readInto(state.sayings, reader);
  advance(key, state);
}

void Gathers::receivedDown(Key key, RecordReader &reader) {
  const auto found = states_.find(key);
  if (found == states_.end()) return;
  Sayings result;
  readInto(result, reader);
  finish(key, found->second, result);
}

void Gathers::forget(Key key) {
  const auto found = states_.find(key);
  if (found == states_.end() || !std::exchange(found->second.awaited, false)) return;
  --awaited_;
}

std::vector<int> Gathers::missing() const {
  std::vector<int> found;
  for (const auto &[key, state] : states_) {
    if (!state.awaited) continue;
    for (const int child : children_) {
      if (std::find(state.heard.begin(), state.heard.end(), child) == state.heard.end()) found.push_back(child);
    }
  }
  return found;
}

void Gathers::advance(Key key, State &state) {
  if (!state.started || state.heard.size() < children_.size()) return;
  if (rank_ == 0) finish(key, state, Sayings(state.sayings));
  else send_(rank_ & (rank_ - 1), ControlKind::gatherUp, key, written(state.sayings));
}

void Gathers::finish(Key key, State &state, const Sayings &result) {
  for (const int child : children_) send_(child, ControlKind::gatherDown, key, written(result));
  const auto settle = std::move(state.settle);
  if (state.awaited) --awaited_;
  states_.erase(key);
  settle(result);
}

} // namespace tandem
