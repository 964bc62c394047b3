// What to do about a file that is not there.
#pragma once

#include <string>

namespace kasen {

// "did you mean 'data/graph.txt'?", "there is no folder 'dta'", or "check the name". Of a path of the documents, as
// examples/pagerank.ks, where Kasen has that file.
[[nodiscard]] std::string missing_file_remedy(const std::string& path);

}  // namespace kasen
