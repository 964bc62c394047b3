// The same random program with some of its statements, loops and branches in functions of their own.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace kasen::testing {

class Outliner {
 public:
  Outliner(const std::string& program, std::uint64_t seed) : random_(seed) {
    std::istringstream text(program);
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
  }

  std::string write() {
    const std::string text = statements(lines_.size());
    return text + functions_;
  }
  [[nodiscard]] int functions() const { return count_; }

 private:
  static std::vector<std::string> words(const std::string& text) {
    static const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
      if (std::find(found.begin(), found.end(), it->str()) == found.end()) found.push_back(it->str());
    }
    return found;
  }
  [[nodiscard]] std::vector<std::string> known(std::vector<std::string> names) const {
    std::erase_if(names, [&](const std::string& name) { return !known_.contains(name); });
    return names;
  }
  // Of every assignment in the text, in order.
  static std::vector<std::string> assigned(const std::string& text) {
    static const std::regex assignment("(?:^|\n) *([a-z][A-Za-z_0-9]*) = ");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), assignment), end; it != end; ++it) {
      const std::string name = (*it)[1];
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
    return found;
  }
  bool chance() { return random_() % 2 == 0; }

  void declare(const std::string& line) {
    static const std::regex declared("([A-Za-z0-9_]+)(?:\\[[0-9a-z]+\\])? (?:: |= )");
    if (line.starts_with("fn ") || line.starts_with("dim ")) return;
    for (std::sregex_iterator it(line.begin(), line.end(), declared), end; it != end; ++it) known_.insert((*it)[1]);
  }

  std::string called(const std::vector<std::string>& names) {
    return fmt::format("part{}({})", count_, fmt::join(names, ", "));
  }

  // Up to line `end`.
  std::string statements(size_t end) {
    static const std::regex assignment("^( *)([a-z][A-Za-z_0-9]*) = (.*)$");
    std::string text;
    while (at_ < end) {
      const std::string line = lines_[at_++];
      std::smatch found;
      if (line.ends_with("{") && line[0] != ' ' && line[0] != '}') {
        text += block(line);
      } else if (std::regex_match(line, found, assignment) && chance()) {
        const std::vector<std::string> names = known(words(found[3]));
        ++count_;
        functions_ += fmt::format("def {} = {}\n", called(names), found[3].str());
        text += fmt::format("{}{} = {}\n", found[1].str(), found[2].str(), called(names));
        known_.insert(found[2]);
      } else {
        if (const size_t loop = line.find("for "); loop != std::string::npos)
          known_.insert(words(line.substr(loop))[1]);
        declare(line);
        text += line + '\n';
      }
    }
    return text;
  }

  // Lists are not handed back.
  std::string block(const std::string& head) {
    const size_t end =
        static_cast<size_t>(std::find(lines_.begin() + static_cast<long>(at_), lines_.end(), "}") - lines_.begin()) + 1;
    std::set<std::string> before = known_;
    if (head.starts_with("for ")) known_.insert(words(head)[1]);
    const std::string text = head + '\n' + statements(end);
    std::swap(before, known_);
    const bool lists = text.find("push(") != std::string::npos || text.find("] = ") != std::string::npos;
    const std::vector<std::string> results = known(assigned(text)), names = known(words(text));
    known_ = before;
    if (lists || results.empty() || !chance()) return text;
    ++count_;
    functions_ += fmt::format("def {} {{\n{}return {}\n}}\n", called(names), text, fmt::join(results, ", "));
    return fmt::format("{} = {}\n", fmt::join(results, ", "), called(names));
  }

  std::mt19937_64 random_;
  std::vector<std::string> lines_;
  size_t at_ = 0;
  std::set<std::string> known_;
  std::string functions_;
  int count_ = 0;
};

}  // namespace kasen::testing
