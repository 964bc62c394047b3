// The page of an experiment: its plots, a table of its points and one of its runs, which can be sorted and filtered,
// and the difference of two rows.
#pragma once

#include <string>
#include <vector>

#include "libopt/draw/plot.h"

namespace kasen {

struct PageTable {
  std::string title;
  std::size_t settings = 0;  // so many of its first columns are settings: rows can be chosen by their values
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct ExperimentPage {
  std::string title, about;
  std::vector<std::string> files;  // beside the page
  std::vector<Plot> plots;
  std::vector<PageTable> tables;
};

[[nodiscard]] std::string experiment_html(const ExperimentPage& page);

}  // namespace kasen
