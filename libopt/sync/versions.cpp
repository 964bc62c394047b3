#include "libopt/sync/versions.h"

#include <algorithm>
#include <string>

#include "libcore/base/error.h"

namespace kasen {

std::vector<Op> Versions::close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (const ValueId v : frame.touched) {
    std::erase_if(forms_[v].made, [&](const Form& form) { return form.frame >= frames_.size(); });
  }
  return std::move(frame.ops);
}

Versions::Point Versions::point() const {
  Point now;
  for (const Frame& frame : frames_) now.frames.push_back({frame.ops.size(), frame.touched.size()});
  return now;
}

void Versions::back_to(const Point& point) {
  if (point.frames.size() != frames_.size()) throw InternalError("frames were opened or closed meanwhile");
  for (size_t f = 0; f < frames_.size(); ++f) {
    Frame& frame = frames_[f];
    frame.ops.resize(point.frames[f].ops);
    for (; frame.touched.size() > point.frames[f].touched; frame.touched.pop_back()) {
      forms_[frame.touched.back()].made.pop_back();
    }
  }
}

void Versions::add(ValueId v, ValueId form, size_t frame) {
  if (forms_.size() < module_->values.size()) forms_.resize(module_->values.size());
  forms_[v].made.push_back({form, frame});
  frames_[frame].touched.push_back(v);
}

void Versions::define_generated(ValueId v, const Op& op) {
  forms_[v].generator = op;
  forms_[v].frame = top();
}

std::optional<ValueId> Versions::find(ValueId v, State::Kind kind, const SlaveSet* set, bool exactly) const {
  const std::vector<Form>& made = forms_[v].made;
  for (auto form = made.rbegin(); form != made.rend(); ++form) {  // the newest first
    const State& state = module_->type(form->id).state;
    if (state.kind != kind) continue;
    if (set == nullptr || (exactly ? state.slaves == *set : set_contains(state.slaves, *set))) return form->id;
  }
  return std::nullopt;
}

size_t Versions::frame_of(ValueId v, ValueId form) const {
  for (const Form& made : forms_[v].made) {
    if (made.id == form) return made.frame;
  }
  throw InternalError("a form of a value that is not at hand");
}

size_t Versions::outermost(size_t limit) const {
  size_t frame = top();
  while (frame > limit && frames_[frame].loop) --frame;
  return frame;
}

ValueId Versions::emit(ValueId v, Op op, const State& state, std::string_view suffix, size_t frame) {
  Type type = module_->type(v);
  type.state = state;
  const ValueId made = module_->add_value(module_->value(v).name + std::string(suffix), std::move(type));
  op.results = {made};
  op.where = here;
  frames_[frame].ops.push_back(std::move(op));
  add(v, made, frame);
  return made;
}

ValueId Versions::generate(ValueId v, const State& state) {
  const Forms& forms = forms_[v];
  return emit(v, *forms.generator, state, state.is_cons() ? "_s" : "", forms.frame);
}

ValueId Versions::transition(ValueId v, OpCode code, ValueId operand, const State& state, std::string_view suffix) {
  Op op;
  op.code = code;
  op.operands = {operand};
  return emit(v, std::move(op), state, suffix, outermost(frame_of(v, operand)));
}

ValueId Versions::make_part(ValueId v) {
  if (const auto form = part(v)) return *form;
  if (forms_[v].generator) return generate(v, State::part());
  if (const auto form = cons(v)) return *form;
  const auto form = pre(v);
  if (!form) throw InternalError("value '" + module_->value(v).name + "' is not at hand");
  return transition(v, OpCode::gather, *form, State::part(), "_g");
}

ValueId Versions::make_cons(ValueId v, const SlaveSet& set) {
  if (const auto form = cons_exactly(v, set)) return *form;
  if (forms_[v].generator) return generate(v, State::cons(set));
  return transition(v, OpCode::scatter, make_part(v), State::cons(set), "_s");
}

}  // namespace kasen
