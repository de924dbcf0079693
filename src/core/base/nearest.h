// "Did you mean ...": the known name nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace athanor::base {

// The candidate with the smallest edit distance (insert, delete, substitute, transpose; case and - _ do not count), if it is
// near enough to be a likely misspelling (about a third of the name). Ties: the first.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace athanor::base
