#include "libcore/lang/domains.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace kasen::lang {
namespace {

struct Domain {
  std::string_view function;
  std::size_t argument;
  double least, most;
  std::string_view remedy;
};

constexpr std::array domains{
    Domain{"quantile", 1, 0, 1, "write 0.9 for nine of ten, or percentile(x, 90)"},
    Domain{"percentile", 1, 0, 100, "write 90 for nine of ten, or quantile(x, 0.9)"},
};

// The number that an argument is: as it is written, with a sign, or by the name of a const.
std::optional<double> known_number(const Scopes& scopes, const Node& node) {
  if (node.kind == NodeKind::operation && node.op == ScalarOp::neg) {
    const std::optional<double> number = known_number(scopes, node.args[0]);
    return number ? std::optional(-*number) : std::nullopt;
  }
  if (node.kind == NodeKind::integer || node.kind == NodeKind::real) {
    double number = 0;
    const char* const end = node.text.data() + node.text.size();
    return std::from_chars(node.text.data(), end, number).ec == std::errc{} ? std::optional(number) : std::nullopt;
  }
  const Binding* const named = node.kind == NodeKind::name ? scopes.find(node.text) : nullptr;
  if (named == nullptr || !named->is(Binding::Kind::constant) || named->term.expr.op != ScalarOp::constant) return {};
  const ElementType& type = named->term.type();
  if (!type.is_scalar() || !is_numeric(type.scalar())) return {};
  const Word word = named->term.expr.literal;
  return is_float(type.scalar()) ? word.f : static_cast<double>(word.i);
}

// Its bins go from the second argument to the third.
void refuse_ends(const SourceText& source, const Scopes& scopes, const Node& call) {
  if (call.args.size() < 3) return;
  const auto low = known_number(scopes, call.args[1]), high = known_number(scopes, call.args[2]);
  if (!low || !high || *low <= *high) return;
  source.fail(call.args[1].mark, fmt::format("histogram from {} to {}", *low, *high), "the lower end comes first",
              fmt::format("write histogram(x, {}, {}, over K)", *high, *low));
}

// std(x, by k in K): what has keys is another function.
void refuse_keys(const SourceText& source, const Statement& def, const Node& call) {
  const Node* const over = call.args.empty() || call.args.back().kind != NodeKind::over ? nullptr : &call.args.back();
  const std::string& name = def.name.text;
  if (over == nullptr || over->args.empty() || (name != "std" && name != "var")) return;
  const auto shown = [](const Node& node, const char* other) {
    return node.kind == NodeKind::name ? node.text : std::string(other);
  };
  source.fail(over->mark, fmt::format("{} by keys", name), "it reduces along dimensions alone",
              fmt::format("write group_{}({}, {}, over {})", name, shown(call.args[0], "x"), shown(over->args[0], "k"),
                          over->args.size() > 1 ? over->args[1].text : "K"));
}

}  // namespace

void refuse_domain(const SourceText& source, const Scopes& scopes, const Statement& def, const Node& call) {
  if (!source.location(def.mark).file.starts_with('<')) return;  // of the program, whatever it is called
  refuse_keys(source, def, call);
  if (def.name.text == "histogram") return refuse_ends(source, scopes, call);
  for (const Domain& domain : domains) {
    if (domain.function != def.name.text || domain.argument >= call.args.size()) continue;
    const Node& node = call.args[domain.argument];
    const std::optional<double> number = known_number(scopes, node);
    if (!number || (domain.least <= *number && *number <= domain.most)) continue;
    source.fail(node.mark, fmt::format("{} of {}", def.name.text, *number),
                fmt::format("it takes a number from {} to {}", domain.least, domain.most), std::string(domain.remedy));
  }
}

}  // namespace kasen::lang
