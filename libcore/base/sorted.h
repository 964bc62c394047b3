// Lists as sets.
#pragma once

#include <algorithm>

namespace kasen {

template <class List>
void sort_unique(List& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace kasen
