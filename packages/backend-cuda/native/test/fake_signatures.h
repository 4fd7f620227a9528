// Finds functions in the texts that the fake NVRTC and the fake driver take. By hand: <regex> takes longer to
// compile than all the rest.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

/// Calls `found(name, parameter count)` for each `PREFIXname(parameters)` of the text, in order.
template <typename Found> void forEachSignature(const std::string &text, const std::string &prefix, Found found) {
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    at += prefix.size();
    auto end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    if (end == at || end == text.size() || text[end] != '(') continue;
    const auto close = text.find(')', end);
    if (close == std::string::npos) return;
    const auto commas = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.begin() + static_cast<std::ptrdiff_t>(close), ',');
    found(text.substr(at, end - at), static_cast<std::size_t>(commas) + 1);
  }
}
