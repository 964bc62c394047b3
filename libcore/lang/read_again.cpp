#include "libcore/lang/read_again.h"

#include <algorithm>
#include <string>

namespace kasen::lang {
namespace {

constexpr int again = 2;  // reads that make it worth it

class Reads {
 public:
  explicit Reads(const std::string& name) : name_(name) {}

  // Stops at `again`, and where the name is assigned anew.
  [[nodiscard]] int behind(const std::vector<Statement>& list, std::size_t at, const std::vector<Node>* results) const {
    int count = 0;
    for (std::size_t i = at + 1; i < list.size() && count < again; ++i) {
      count += of(list[i]);
      if (assigns(list[i])) return count;
    }
    return count + (results == nullptr ? 0 : of(*results));
  }

 private:
  [[nodiscard]] int of(const Node& node) const {
    int count = node.kind == NodeKind::name && node.text == name_ ? 1 : 0;
    for (const Node& arg : node.args) count += count < again ? of(arg) : 0;
    return count;
  }

  [[nodiscard]] int of(const std::vector<Node>& nodes) const {
    int count = 0;
    for (const Node& node : nodes) count += of(node);
    return count;
  }

  [[nodiscard]] int of(const Statement& s) const {
    const int own = of(s.value) + of(s.index) + of(s.arguments);
    const bool loop = s.kind == StatementKind::while_loop || s.kind == StatementKind::for_loop;
    int inner = 0;
    for (const auto* body : {&s.body, &s.other}) {
      for (const Statement& inside : *body) inner += assigns(inside) ? again : of(inside);
    }
    return own + (loop ? inner * again : inner);
  }

  [[nodiscard]] bool assigns(const Statement& s) const {
    if (s.kind != StatementKind::assign) return false;
    const auto is_name = [&](const NameAt& name) { return name.text == name_; };
    return is_name(s.name) || std::any_of(s.names.begin(), s.names.end(), is_name);
  }

  const std::string& name_;
};

}  // namespace

bool is_read_again(const std::vector<Statement>& list, std::size_t at, const std::vector<Node>* results) {
  return Reads(list[at].name.text).behind(list, at, results) >= again;
}

}  // namespace kasen::lang
