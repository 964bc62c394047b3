// The forms of a plan that kernels run. In the default layout there is one for all parts. A plan that names layouts has
// one for each tuple of local sizes among the parts: they differ in sizes alone. Internal to the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcore/analysis/box_form.h"
#include "libcore/data/data.h"
#include "libcore/kernels/kernel_set.h"

namespace kasen::executor {

class LocalForms {
 public:
  // `watched`: with the marks of nan_watch.h. The plan, whose sizes are bound, and the kernels must stay.
  LocalForms(const Module& plan, std::span<const Part> parts, KernelSet& kernels, bool watched);

  // True if arrays are boxes (libcore/analysis/boxes.h), false if they have the default layout.
  [[nodiscard]] bool are_boxes() const { return boxes_; }
  [[nodiscard]] const KernelForm& first() const { return forms_[0].form; }
  [[nodiscard]] const Module& module(int part) const { return form_of(part).form.module; }
  // Of the values behind the plan's, with boxes.
  [[nodiscard]] std::span<const BoxStandIn> stand_ins() const { return forms_[0].stand_ins; }
  // The value whose memory a value of the form is.
  [[nodiscard]] ValueId memory_of(ValueId value) const { return forms_[0].memory_of(value); }
  // The number of products that an operator is; 1 for all but contractions.
  [[nodiscard]] std::int64_t batches(int part, int number) const {
    const auto known = form_of(part).batches.find(number);
    return known == form_of(part).batches.end() ? 1 : known->second;
  }
  // Of a contraction onto an array: BoxForm::first_only.
  [[nodiscard]] MeshAxes first_only(int number) const { return forms_[0].first_only.at(number); }
  [[nodiscard]] std::int64_t buffer_elements(BufferId buffer, int part) const { return form_of(part).elements[buffer]; }

  // The parts of one shape have one form, and one kernel set that is prepared for it.
  [[nodiscard]] std::size_t shapes() const { return forms_.size(); }
  [[nodiscard]] std::size_t shape(int part) const { return shapes_[static_cast<std::size_t>(part)]; }
  [[nodiscard]] KernelSet& kernels(std::size_t shape) const { return shape == 0 ? kernels_ : *others_[shape - 1]; }
  void prepare() const;
  [[nodiscard]] AccessCount accesses() const;
  [[nodiscard]] std::int64_t held_bytes() const;
  // `op` is an operator of first().module, and `number` its preorder number.
  [[nodiscard]] const Op& op_on(int part, const Op& op, int number) const {
    return shape(part) == 0 ? op : *ops_[shape(part) - 1][static_cast<std::size_t>(number)];
  }

 private:
  [[nodiscard]] const BoxForm& form_of(int part) const { return forms_[shape(part)]; }
  [[nodiscard]] std::size_t find(const BoxForm& form) const;

  const bool boxes_;
  KernelSet& kernels_;
  std::vector<BoxForm> forms_;
  std::vector<std::size_t> shapes_;                 // by part
  std::vector<std::unique_ptr<KernelSet>> others_;  // of the shapes behind the first
  std::vector<std::vector<const Op*>> ops_;         // of these shapes, in preorder
};

}  // namespace kasen::executor
