// Texts changed at random, the same way for the same seed: bytes, words, lines and numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kasen::testing {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_() % n); }

  // One to three changes.
  [[nodiscard]] std::string change(std::string text) {
    for (size_t left = 1 + below(3); left > 0; --left) change_once(text);
    return text;
  }

 private:
  struct Span {
    size_t begin = 0, size = 0;
  };

  static bool in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  }

  // Words and numbers with what marks them (%x, @part, ~b0), and all else byte by byte.
  static std::vector<Span> words_of(std::string_view text) {
    std::vector<Span> words;
    for (size_t k = 0; k < text.size();) {
      size_t end = k + 1;
      if (in_word(text[k]) || text[k] == '%' || text[k] == '@' || text[k] == '~')
        while (end < text.size() && in_word(text[end])) ++end;
      if (text[k] != ' ' && text[k] != '\n') words.push_back({k, end - k});
      k = end;
    }
    return words;
  }

  static std::vector<Span> lines_of(std::string_view text) {
    std::vector<Span> lines;
    for (size_t k = 0; k < text.size();) {
      const size_t end = std::min(text.find('\n', k), text.size() - 1) + 1;
      lines.push_back({k, end - k});
      k = end;
    }
    return lines;
  }

  void change_once(std::string& text) {
    if (text.empty()) return;
    const size_t kind = below(16);
    if (kind < 7)
      swap_words(text);
    else if (kind < 10)
      swap_lines(text);
    else if (kind < 13)
      change_number(text);
    else if (kind < 15)
      text[below(text.size())] ^= static_cast<char>(1 << below(8));
    else if (below(4) == 0)
      text.resize(below(text.size()));
  }

  // A word goes, comes twice, or becomes one that stands elsewhere and looks like it.
  void swap_words(std::string& text) {
    const std::vector<Span> words = words_of(text);
    if (words.empty()) return;
    const Span to = words[below(words.size())];
    Span from = words[below(words.size())];
    for (int tries = 0; tries < 40 && text[from.begin] != text[to.begin]; ++tries) from = words[below(words.size())];
    const std::string word = text.substr(from.begin, from.size);
    const size_t how = below(10);
    text.replace(to.begin, how == 1 ? 0 : to.size, how == 0 ? std::string() : word);
  }

  void swap_lines(std::string& text) {
    const std::vector<Span> lines = lines_of(text);
    const Span from = lines[below(lines.size())], to = lines[below(lines.size())];
    const std::string line = text.substr(from.begin, from.size);
    const size_t how = below(3);  // moved, come twice, gone
    if (how == 2) return (void)text.erase(from.begin, from.size);
    text.insert(to.begin, line);
    if (how == 0) text.erase(from.begin + (from.begin >= to.begin ? line.size() : 0), from.size);
  }

  void change_number(std::string& text) {
    constexpr std::array<const char*, 12> numbers{"0",   "1",    "-1",  "2",   "3",    "7",
                                                  "0.5", "1e30", "nan", "inf", "true", "9223372036854775807"};
    std::vector<Span> found;
    for (const Span word : words_of(text))
      if (text[word.begin] >= '0' && text[word.begin] <= '9') found.push_back(word);
    if (found.empty()) return;
    const Span at = found[below(found.size())];
    text.replace(at.begin, at.size, numbers.at(below(numbers.size())));
  }

  std::mt19937_64 random_;
};

}  // namespace kasen::testing
