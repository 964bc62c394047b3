#include "libopt/pages/experiment_page.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "libopt/draw/page_text.h"
#include "libopt/pages/experiment_script.h"
#include "libopt/picture/page.h"

namespace kasen {
namespace {

// "1,204,224" and "0.25" are numbers, by which rows are sorted.
std::optional<std::string> plain_number(const std::string& text) {
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  double number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || fault != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return digits;
}

std::string cell_of(const std::string& text) {
  if (const auto number = plain_number(text))
    return fmt::format("<td class=\"n\" data-value=\"{}\">{}</td>", *number, page_text(text));
  const char* style = text == "differs" || text.find("failed") != std::string::npos ? " class=\"bad\"" : "";
  return fmt::format("<td{}>{}</td>", style, page_text(text));
}

std::string table_of(const PageTable& table) {
  std::string text =
      fmt::format("<h2>{}</h2>\n<div class=\"choice\"><div class=\"scroll\"><table class=\"runs\"><thead><tr>",
                  page_text(table.title));
  for (std::size_t i = 0; i < table.head.size(); ++i)
    text +=
        fmt::format("<th scope=\"col\"{}>{}</th>", i < table.settings ? " data-setting" : "", page_text(table.head[i]));
  text += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += cell_of(cell);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div></div>\n";
}

}  // namespace

std::string experiment_html(const ExperimentPage& page) {
  std::string text = page_head(page.title + ": an experiment", experiment_script_hash());
  text += fmt::format("<header><h1>{}</h1>\n<p class=\"sub\">{}</p>\n<p class=\"note\">", page_text(page.title),
                      page_text(page.about));
  for (const std::string& file : page.files)
    text += fmt::format("{}<a href=\"{}\">{}</a>", &file == page.files.data() ? "Files: " : ", ", page_text(file),
                        page_text(file));
  text += "</p></header>\n<main><section id=\"plots\"><div class=\"curves\">\n";
  for (const Plot& plot : page.plots) text += "<figure>" + plot_in_page(plot) + "</figure>\n";
  text += "</div></section>\n<section id=\"tables\">\n";
  for (const PageTable& table : page.tables) text += table_of(table);
  return text + fmt::format("</section></main>\n<script>{}</script><script>{}</script></body></html>\n", page_script(),
                            experiment_script());
}

}  // namespace kasen
