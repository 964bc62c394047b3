// A configuration in YAML: options of every kind that tools have.
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"
#include "tools/common/config.h"

namespace kasen::fuzz {

void fuzz_config(std::string_view content) {
  namespace po = boost::program_options;
  static const po::options_description options = [] {
    po::options_description all;
    all.add_options()("workers", po::value<int>(), "")("theta", po::value<std::int64_t>(), "")(
        "fraction", po::value<double>(), "")("program", po::value<std::string>(), "")(
        "define", po::value<std::vector<std::string>>()->composing(), "")("likely", po::bool_switch(), "")(
        "config", po::value<std::string>(), "");
    return all;
  }();
  std::map<std::string, tools::YamlPlace> places;
  po::variables_map values;
  po::store(tools::parse_config(std::string(content), "config.yaml", options, places), values);
  for (const auto& [name, place] : places) require(place.line > 0 && place.column > 0, "values have places", name);
}

}  // namespace kasen::fuzz
