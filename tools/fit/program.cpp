#include "tools/fit/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

#include "libcore/base/error.h"
#include "tools/common/tool.h"

namespace kasen::tools {
namespace {

constexpr std::string_view use_mark = "use \"";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The text without the comment at its top and without `use`; the name of the file that it uses goes to `used`.
std::string body_of(std::string_view text, std::string& used) {
  std::string body;
  bool top = true;
  for (const std::string& line : lines_of(text)) {
    top = top && line.starts_with("#");
    if (line.starts_with(use_mark)) used = line.substr(use_mark.size(), line.find(".ks") - use_mark.size());
    if (!top && !line.starts_with(use_mark)) body += line + "\n";
  }
  return body;
}

// The functions of a file, those of the files that it uses behind them.
std::string functions_of(std::string name) {
  std::string text;
  while (!name.empty()) {
    std::string used;
    const std::string_view source = program_text(name);
    const std::string body = body_of(source, used);
    text += "\n";
    for (const std::string& line : lines_of(source)) {
      if (!line.starts_with("#")) break;
      text += line + "\n";
    }
    text += body.substr(body.find_first_not_of('\n'));
    name = used;
  }
  return text;
}

bool is_setting_line(const std::string& line) { return line.starts_with("param ") || line.starts_with("const "); }

struct ProgramValue {
  std::size_t begin = 0, end = 0;  // of its value in the text
  std::string name;
};

// In `const` and `param` lines: name = value, separated by commas, up to a comment.
std::vector<ProgramValue> settings_of(const std::string& text) {
  std::vector<ProgramValue> settings;
  std::size_t at = 0;
  for (const std::string& line : lines_of(text)) {
    const std::size_t stop = std::min(line.find('#'), line.size());
    for (std::size_t k = 6; is_setting_line(line) && k < stop;) {
      const std::size_t equals = line.find(" = ", k);
      if (equals == std::string::npos || equals >= stop) break;
      const std::size_t end = std::min(line.find_first_of(", ", equals + 3), line.size());
      settings.push_back({at + equals + 3, at + end, line.substr(k, equals - k)});
      k = std::min(line.find_first_not_of(", ", end), line.size());
    }
    at += line.size() + 1;
  }
  return settings;
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

struct ParamBound {
  std::string_view name;
  double least, most;
  bool above;  // least itself is not allowed
  std::string_view why;
};

constexpr double no_bound = std::numeric_limits<double>::infinity();
constexpr auto param_bounds = std::to_array<ParamBound>({
    {"lambda", 0, no_bound, false, "a negative penalty rewards what it is to keep small: there is no smallest sum"},
    {"share", 0, 1, false, "it is the part of the penalty that is |w|_1"},
    {"tolerance", 0, no_bound, true, "the steps end when what is left is below it"},
    {"inner_tolerance", 0, no_bound, true, "the steps end when what is left is below it"},
    {"steps", 1, no_bound, false, "without a step there is no model"},
    {"inner_steps", 1, no_bound, false, "without a step there is no model"},
    {"rounds", 1, no_bound, false, "without a round there is no model"},
    {"k", 1, no_bound, false, "each row belongs to a centre"},
    {"factors", 1, no_bound, false, "a rating is a sum of products of factors"},
});

// UserError(usage): a value that the program takes, and that means nothing.
void require_in_bounds(const std::string& name, const std::string& text, double value) {
  for (const ParamBound& bound : param_bounds) {
    if (bound.name != name || (value <= bound.most && (bound.above ? value > bound.least : value >= bound.least)))
      continue;
    fail(ExitStatus::usage, fmt::format("--param {}={}", name, text), std::string(bound.why),
         bound.most < no_bound ? fmt::format("give {} to {}", bound.least, bound.most)
                               : fmt::format("give {} {}", bound.above ? "a number above" : "at least", bound.least));
  }
}

// if i == 0 then 3.0 else if ... : the numbers that are classes.
std::string class_function(const Samples& samples) {
  const bool words = samples.target_is_words();
  if (words && samples.class_codes.back() + 1 == std::ssize(samples.classes))
    return "fn class_at(k) = f64(k)            # words have the codes 0, 1, ...";
  bool apart_by_one = true;
  std::vector<double> numbers(samples.class_codes.begin(), samples.class_codes.end());
  for (std::size_t k = 0; k < samples.classes.size() && !words; ++k)
    numbers.push_back(std::strtod(samples.classes[k].c_str(), nullptr));
  for (std::size_t k = 1; k < numbers.size(); ++k)
    apart_by_one = apart_by_one && numbers[k] == numbers[0] + static_cast<double>(k);
  if (apart_by_one) return fmt::format("fn class_at(k) = {} + f64(k)", program_number(numbers[0]));
  std::string text = "fn class_at(k) = ";
  for (std::size_t k = 0; k + 1 < numbers.size(); ++k)
    text += fmt::format("if k == {} then {} else ", k, program_number(numbers[k]));
  return text + program_number(numbers.back());
}

}  // namespace

ModelProgram::ModelProgram(std::string_view name) { text_ = body_of(program_text(name), used_); }

std::string ModelProgram::names() const {
  std::string names;
  for (const ProgramValue& setting : settings_of(text_))
    if (setting.name != "high" && setting.name != "classes") names += (names.empty() ? "" : ", ") + setting.name;
  return names;
}

void ModelProgram::set(const std::string& name, const std::string& value) {
  const std::vector<ProgramValue> settings = settings_of(text_);
  const auto at = std::find_if(settings.begin(), settings.end(), [&](const ProgramValue& s) { return s.name == name; });
  if (at == settings.end())
    fail(ExitStatus::usage, fmt::format("the model has no param '{}'", name), fmt::format("it has {}", names()));
  if (!is_number(value))
    fail(ExitStatus::usage, fmt::format("--param {}={}", name, value), fmt::format("'{}' is not a number", value));
  const std::string old = text_.substr(at->begin, at->end - at->begin);
  const bool real = old.find_first_of(".e") != std::string::npos;
  const bool whole = value.find_first_of(".e") == std::string::npos;
  if (!real && !whole)
    fail(ExitStatus::usage, fmt::format("--param {}={}", name, value), fmt::format("'{}' counts something", name),
         "write a whole number");
  text_.replace(at->begin, at->end - at->begin, real && whole ? value + ".0" : value);
}

double ModelProgram::value(const std::string& name) const {
  for (const ProgramValue& setting : settings_of(text_))
    if (setting.name == name) return std::strtod(text_.c_str() + setting.begin, nullptr);
  return 0;
}

void ModelProgram::declare(const std::string& statements) {
  const std::size_t begin = text_.find("dim N, "), input = text_.find("\ninput ", begin);
  if (begin == std::string::npos || input == std::string::npos)
    throw InternalError("a model's program declares no samples");
  text_.replace(begin, text_.find('\n', input + 1) + 1 - begin, statements);
}

void ModelProgram::replace_line(std::string_view start, const std::string& text) {
  const std::size_t at = text_.find(start);
  if (at == std::string::npos) throw InternalError("a model's program has no such line");
  text_.replace(at, text_.find('\n', at) - at, text);
}

void ModelProgram::solve_by(std::string_view solver, std::string_view other) {
  const std::string call = fmt::format("= {}(", solver);
  const std::size_t at = text_.find(call);
  if (at == std::string::npos) throw InternalError("a model's program has no such solver");
  text_.replace(at, call.size(), fmt::format("= {}(", other));
  used_ = other;
}

std::string ModelProgram::text(const std::string& note) const {
  return note + text_.substr(text_.find_first_not_of('\n')) + functions_of(used_);
}

ModelProgram fitting_program(const ModelRow& row, const Samples& samples, const FitSettings& settings) {
  const bool whole_matrix = row.name == "als" && samples.form == TableForm::npy;
  const bool apart = row.wide == "apart";
  ModelProgram program(whole_matrix ? "als-dense"
                                    : std::string(row.program) + (apart && samples.sparse ? "-sparse" : ""));
  // A matrix of so many features takes longer than the steps that do without one.
  constexpr std::int64_t most_of_matrix = 1000;
  const bool wide = samples.sparse || samples.width() > most_of_matrix;
  if (wide && row.wide != row.solver && !apart) {
    program.solve_by(row.solver, row.wide);
    const bool gradients = row.wide == "lbfgs";
    program.set("steps", gradients ? "3000" : "30000");
    if (gradients) program.set("tolerance", "1e-11");
  }
  if (row.name != "als") program.declare(declarations(samples));
  if (row.target == TargetKind::two)
    program.set("high",
                samples.target_is_words() ? std::to_string(samples.class_codes.back()) : samples.classes.back());
  if (row.target == TargetKind::classes) {
    program.set("classes", std::to_string(samples.classes.size()));
    program.replace_line("fn class_at", class_function(samples));
  }
  for (const auto& [name, value] : settings.params) {
    if (name == "high" || name == "classes")
      fail(ExitStatus::usage, fmt::format("the model has no param '{}'", name), "the target's classes give it");
    program.set(name, value);
    require_in_bounds(name, value, program.value(name));
  }
  if (!settings.intercept) program.set("intercept", "0");
  if (row.name != "als") program.append("output rows = size(N)");
  if (row.name == "kmeans")
    program.append(
        "of_centre = min(map(number_of, index(K), D, min(D, over K)), over K)  # each point's\n"
        "points = sum(outer((n, k) -> if n == i64(k) then 1.0 else 0.0, of_centre, index(K)), over N)\n"
        "output empty = sum(if points > 0 then 0.0 else 1.0)");
  return program;
}

}  // namespace kasen::tools
