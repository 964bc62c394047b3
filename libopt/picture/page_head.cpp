// The beginning of a page. Its policy lets run only the scripts with these digests, and loads nothing.
#include <fmt/format.h>

#include "libopt/draw/page_text.h"
#include "libopt/picture/page.h"

namespace kasen {

std::string page_head(const std::string& title, std::string_view other_script_hash) {
  const std::string other = other_script_hash.empty() ? "" : fmt::format(" 'sha256-{}'", other_script_hash);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'{}\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>{}</title><style>{}</style></head>\n<body>\n",
      page_script_hash(), other, page_text(title), page_style());
}

}  // namespace kasen
