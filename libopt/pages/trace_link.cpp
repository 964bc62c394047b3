#include "libopt/pages/trace_link.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "libopt/draw/page_text.h"

namespace kasen {
namespace {

// The path as an address: a letter that may mean something there is written as its number.
std::string address_of(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-").find(c) < 4;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

std::string with_trace_link(std::string page, const std::string& trace) {
  constexpr std::string_view end_of_main = "</main>", end_of_nav = "</nav>";
  const std::size_t main = page.rfind(end_of_main), nav = page.find(end_of_nav);
  if (main == std::string::npos || nav == std::string::npos) return page;
  page.insert(main,
              fmt::format("<section id=\"trace\"><h2>When what ran</h2>\n<p><a href=\"{}\">{}</a> shows when each "
                          "rank ran which operator and waited for which message. Open it in Perfetto "
                          "(ui.perfetto.dev) or at chrome://tracing.</p></section>\n",
                          address_of(trace), page_text(trace)));
  page.insert(nav, "<a href=\"#trace\">Trace</a>");
  return page;
}

}  // namespace kasen
