// Copies of parts of boxes (libcore/analysis/boxes.h). Internal to the executor.
#pragma once

#include "libcore/data/mirrored.h"
#include "libcore/data/place_list.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {

// Copies elements of one array to places of another, one after another in both lists, which are of one size. The arrays
// may be one if no place comes before the one that it is copied to.
void copy_places(const Execution& run, const ElementType& element, const View& from, const PlaceList& sources,
                 const View& to, const PlaceList& targets);
// The same from or to a message: its planes follow one another without padding.
void pack_places(const ElementType& element, const View& from, const PlaceList& sources, std::byte* message);
void unpack_places(const ElementType& element, const std::byte* message, const View& to, const PlaceList& targets);

// `planned`: the plan's operator.
std::unique_ptr<Step> make_box_transition(Execution& run, const Op& op, const Op& planned, int number);

}  // namespace kasen::executor
