/// \file
/// Forms of a part that follow from the data and a plan, and that a store may hold from an earlier run: the order of
/// owned elements, a matrix in pull form, the second form of a kernel set. Making them takes seconds where a matrix has
/// 10^8 nonzeros; taking them from a file takes tenths.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/system/held_list.h"

namespace kasen {

/// Names a form: equal texts on one worker of one bundle, equal bytes. The text states everything beside the data that
/// the form depends on, the version of its maker too (libcore/kernels/form_text.h).
struct FormName {
  std::string text;
  int worker = 0;
};

/// One array of a form, as the data and the plan imply it.
struct FormShape {
  std::int64_t bytes = 0;
  std::int64_t below = 0;  ///< if positive: 32-bit integers, each in 0..below - 1
};

/// The arrays of a form in memory, each aligned to 64 bytes and followed by zeros up to a multiple of 64. They are for
/// reading alone, and live as long as `owner`.
struct LoadedForm {
  std::shared_ptr<const void> owner;
  std::vector<const std::byte*> arrays;
};

/// Any thread may call it, for one name at a time.
class FormStore {
 public:
  virtual ~FormStore() = default;
  /// Returns nothing if the store has no such form. UserError(bad_input): the form is not as it was written, which
  /// includes arrays of other sizes and integers out of range. UserError(io).
  [[nodiscard]] virtual std::optional<LoadedForm> load(const FormName& name, std::span<const FormShape> shapes) = 0;
  /// Offers a form that load() did not find. UserError(io, cannot_create).
  virtual void keep(const FormName& name, std::span<const std::span<const std::byte>> arrays) = 0;
};

/// The first numbers of array `k` of a form.
template <class T>
[[nodiscard]] HeldList<T> list_at(const LoadedForm& form, std::size_t k, std::int64_t count) {
  return {form.owner, reinterpret_cast<const T*>(form.arrays.at(k)), static_cast<std::size_t>(count)};
}
/// A copy of the elements that array `k` of a form holds.
[[nodiscard]] Array array_at(const ElementType& element, std::int64_t count, const LoadedForm& form, std::size_t k);
/// Whether all its elements' booleans are 0 or 1: a store does not look at planes.
[[nodiscard]] bool holds_booleans(const Array& array);

/// The bytes of a list of numbers.
template <class List>
[[nodiscard]] std::span<const std::byte> bytes_of_list(const List& list) {
  return std::as_bytes(std::span(list.data(), list.size()));
}

}  // namespace kasen
