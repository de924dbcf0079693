// Result<T, E>: an outcome that the caller is expected to look at. For what ends the operation there is error.h.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "core/base/error.h"

namespace athanor::base {

template <typename E>
struct Failure {
  E error;
};
template <typename E>
Failure(E) -> Failure<E>;

template <typename T, typename E = Problem>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure<E> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    ATHANOR_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  T&& value() && {
    ATHANOR_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(std::move(state_));
  }
  const E& error() const {
    ATHANOR_CHECK(!ok(), "error() of a successful Result");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, E> state_;
};

}  // namespace athanor::base
