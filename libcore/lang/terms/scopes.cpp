#include "libcore/lang/terms/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasen::lang {

const Binding* Scopes::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it != scope->end()) return &it->second;
  }
  return nullptr;
}

const Binding* Scopes::find_for_fn(const std::string& name) const {
  if (callers_.empty()) return find(name);
  const Scope& program = callers_.front().front();
  const auto it = program.find(name);
  return it == program.end() ? nullptr : &it->second;
}

bool Scopes::is_hidden(const std::string& name) const {
  if (callers_.empty()) return false;
  const std::vector<Scope>& program = callers_.front();
  return std::any_of(program.begin(), program.end(), [&](const Scope& scope) { return scope.contains(name); });
}

Scopes::Call::Call(Scopes& scopes, Of of) : scopes_(scopes) {
  const std::vector<Scope>& program = scopes.callers_.empty() ? scopes.scopes_ : scopes.callers_.front();
  std::vector<Scope> own(2);  // parameters hide the program's names
  if (of == Of::program) {
    for (const auto& [name, binding] : program.front()) {
      if (!binding.is(Binding::Kind::value) && !binding.is(Binding::Kind::formula)) own.front().emplace(name, binding);
    }
  }
  scopes.callers_.push_back(std::exchange(scopes.scopes_, std::move(own)));
}

Scopes::Call::~Call() {
  scopes_.scopes_ = std::move(scopes_.callers_.back());
  scopes_.callers_.pop_back();
}

void Scopes::end_block(Mark block) {
  const Scope names = std::move(scopes_.back());
  scopes_.pop_back();
  if (block.line == 0 || in_call()) return;
  for (const auto& [name, binding] : names) {
    if (!binding.is(Binding::Kind::poisoned) && find(name) == nullptr) ended_[name] = block;
  }
}

Mark Scopes::ended_with(const std::string& name) const {
  const auto it = ended_.find(name);
  return it == ended_.end() || in_call() ? Mark{} : it->second;
}

Names Scopes::visible() const {
  Names names;
  for (const Scope& scope : scopes_) {
    for (const auto& [name, binding] : scope) names.push_back(name);
  }
  return names;
}

std::vector<ValueId> Scopes::values(const Names& names) const {
  std::vector<ValueId> values;
  for (const std::string& name : names) values.push_back(find(name)->id);
  return values;
}

void Scopes::define(const std::string& name, Mark mark, Binding binding) {
  const Binding* known = find(name);
  if (known != nullptr && !known->is(Binding::Kind::poisoned)) {
    source_.fail(mark, fmt::format("'{}' is already declared", name), {}, "choose another name");
  }
  shadow(name, std::move(binding));
}

void Scopes::define_inside(const std::string& name, Mark mark, Binding binding) {
  if (scopes_.back().contains(name)) {
    source_.fail(mark, fmt::format("'{}' is already declared", name), {}, "choose another name");
  }
  shadow(name, std::move(binding));
}

void Scopes::rebind(const std::string& name, ValueId id) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it == scope->end()) continue;
    it->second.kind = Binding::Kind::value;
    it->second.id = id;
    return;
  }
  shadow(name, {.id = id});
}

void Scopes::poison(const std::string& name) {
  if (find(name) == nullptr) shadow(name, {.kind = Binding::Kind::poisoned});
}

Until<const Frame*> Frames::inside(Frame& frame) {
  if (!frame.fn) frame.outer = frame_;
  return {frame_, &frame};
}

const Term* Frames::find(const std::string& name) const {
  for (const Frame* f = frame_; f != nullptr; f = f->outer) {
    const auto it = f->names.find(name);
    if (it != f->names.end()) return &it->second;
  }
  return nullptr;
}

const Frame* Frames::fn() const {
  const Frame* f = frame_;
  while (f != nullptr && !f->fn) f = f->outer;
  return f;
}

}  // namespace kasen::lang
