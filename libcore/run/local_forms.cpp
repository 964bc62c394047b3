#include "libcore/run/local_forms.h"

#include <algorithm>

#include "libcore/analysis/nan_watch.h"
#include "libcore/ir/layout.h"

namespace kasen::executor {

LocalForms::LocalForms(const Module& plan, std::span<const Part> parts, KernelSet& kernels, bool watched)
    : boxes_(names_layouts(plan)), kernels_(kernels) {
  if (!boxes_) {
    forms_.push_back({kernel_form(plan), {}, {}, {}, {}, {}});
    if (watched) watch_regions(forms_[0].form, false);
    shapes_.assign(parts.size(), 0);
    return;
  }
  for (const Part& part : parts) {
    BoxForm form = box_form(plan, part.worker);
    const std::size_t shape = find(form);
    if (shape == forms_.size()) forms_.push_back(std::move(form));
    shapes_.push_back(shape);
  }
  if (watched) {
    for (BoxForm& form : forms_) watch_regions(form.form, true);
  }
  for (std::size_t shape = 1; shape < forms_.size(); ++shape) {
    const KernelForm& form = forms_[shape].form;
    others_.push_back(kernels_.another());
    std::vector<const Op*>& ops = ops_.emplace_back();
    for_each_op(form.module, [&](const Op& op, int, int) {
      if (op.results.empty() || !form.is_mark(op.results[0])) ops.push_back(&op);  // marks have no number
    });
  }
}

std::size_t LocalForms::find(const BoxForm& form) const {
  const auto same = [&](const BoxForm& known) {
    return known.form.module.dims == form.form.module.dims && known.elements == form.elements &&
           known.batches == form.batches;
  };
  return static_cast<std::size_t>(std::find_if(forms_.begin(), forms_.end(), same) - forms_.begin());
}

void LocalForms::prepare() const {
  for (std::size_t shape = 0; shape < forms_.size(); ++shape) kernels(shape).prepare(forms_[shape].form.module);
}

AccessCount LocalForms::accesses() const {
  AccessCount sum;
  for (std::size_t shape = 0; shape < forms_.size(); ++shape) {
    const AccessCount some = kernels(shape).accesses();
    sum.read_bytes += some.read_bytes;
    sum.written_bytes += some.written_bytes;
  }
  return sum;
}

std::int64_t LocalForms::held_bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t shape = 0; shape < forms_.size(); ++shape) bytes += kernels(shape).held_bytes();
  return bytes;
}

}  // namespace kasen::executor
