// The turns of work in which devices of different ranks wait for each other.
#include <algorithm>
#include <utility>

#include "engine.h"

namespace tandem {

void Engine::beginTurns() {
  for (std::size_t index = 0; index < turns_.size() && turns_[index].key.group == turns_.front().key.group; ++index) {
    if (const auto begin = std::exchange(turns_[index].begin, {})) begin();
  }
}

void Engine::endTurn(Key key) {
  post([this, key] {
    if (failed_.load()) return;
    const auto place = std::find_if(turns_.begin(), turns_.end(), [key](const Turn &turn) { return turn.key == key; });
    if (place != turns_.end()) {
      turns_.erase(place);
      beginTurns();
    } else if (awaits(key)) {
      forgoneTurns_.insert(key);
    }
  });
}

bool Engine::awaits(Key gather) {
  std::lock_guard lock(pendingMutex_);
  return pendingGathers_.count(gather) > 0;
}

} // namespace tandem
