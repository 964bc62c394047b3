/// \file
/// Forms that a bundle's folder keeps beside its parts: one file for each form and worker (docs/bundle.md, "Forms").
/// They come after the bundle is made, and do not count in its digest.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcore/kernels/form_store.h"

namespace kasen {

class BundleForms final : public FormStore {
 public:
  /// `digest`: the bundle's, which each form names. With `keeps`, forms that it lacks are written as they are offered.
  BundleForms(std::string bundle, std::string digest, bool keeps, Sync sync = Sync::no);

  /// Maps a file that the user alone can write. Others could change theirs once it is checked, so these are copied.
  [[nodiscard]] std::optional<LoadedForm> load(const FormName& name, std::span<const FormShape> shapes) override;
  void keep(const FormName& name, std::span<const std::span<const std::byte>> arrays) override;

  /// The numbers of forms so far that were there, and that were not.
  [[nodiscard]] std::int64_t loaded() const { return loaded_; }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  [[nodiscard]] std::string path_of(const FormName& name) const;

  std::string bundle_, digest_;
  bool keeps_;
  Sync sync_;
  std::atomic<std::int64_t> loaded_{0}, made_{0};
};

/// A form of all workers that keep it.
struct KeptForm {
  std::string text;  ///< FormName::text
  int workers = 0;
  std::int64_t bytes = 0;  ///< of its files
};
/// The forms that a bundle keeps, by text. Reads no array. UserError: bad_input, io.
[[nodiscard]] std::vector<KeptForm> kept_forms(const std::string& bundle, const std::string& digest);
/// Reads each form whole, against its digests. UserError: bad_input, io.
void check_forms(const std::string& bundle, const std::string& digest);
/// The name of a form's file, or the temporary name of one that is not complete.
[[nodiscard]] bool is_form_file(const std::string& name);

}  // namespace kasen
