#include "tests/core/mesh_run.h"

#include <algorithm>

#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/axis/axis.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/laws/laws.h"

namespace kasen::testing {

MeshRun::MeshRun(const Module& module, const std::map<std::string, Whole>& inputs) : m_(module), inputs_(inputs) {
  for (const Op& op : m_.body.ops) {
    try {
      one(op);
    } catch (const std::logic_error& error) {
      throw std::logic_error(op.results.empty() ? "output" : '%' + m_.value(op.results[0]).name + ": " + error.what());
    }
  }
}

std::int64_t MeshRun::workers() const {
  std::int64_t count = 1;
  for (const MeshAxis& axis : m_.mesh) count *= axis.size;
  return count;
}

std::int64_t MeshRun::place(std::int64_t worker, std::size_t axis) const {
  for (std::size_t a = m_.mesh.size(); --a > axis;) worker /= m_.mesh[a].size;
  return worker % m_.mesh[axis].size;
}

// Runs over the first axis, each of these over the next; or blocks, dealt out over the first axis, and those of one
// place there over the next.
std::int64_t MeshRun::owner(std::int64_t size, AxisCut cut, std::int64_t i, std::size_t axis) const {
  std::int64_t block = cut.block > 0 ? i / cut.block : 0;
  for (std::size_t a = 0; a < m_.mesh.size(); ++a) {
    if ((cut.axes >> a & 1) == 0) continue;
    if (cut.block > 0) {
      if (a == axis) return block % m_.mesh[a].size;
      block /= m_.mesh[a].size;
      continue;
    }
    const std::int64_t parts = m_.mesh[a].size, each = size / parts, longer = size % parts;
    std::int64_t part = 0, begin = 0;
    while (i >= begin + each + (part < longer ? 1 : 0)) begin += each + (part++ < longer ? 1 : 0);
    if (a == axis) return part;
    i -= begin;
    size = each + (part < longer ? 1 : 0);
  }
  throw std::logic_error("an axis that does not cut the dimension");
}

// `everywhere`: the axes along which the place does not matter.
bool MeshRun::is_at(const Type& type, const Index& index, std::int64_t worker, MeshAxes everywhere) const {
  const Layout layout(m_, type);
  for (std::size_t a = 0; a < m_.mesh.size(); ++a) {
    if ((everywhere >> a & 1) != 0) continue;
    const std::ptrdiff_t cut = layout.axis_cut_by(a);
    std::int64_t wanted = 0;
    if (cut != no_axis) {
      const auto c = static_cast<std::size_t>(cut);
      wanted = owner(m_.dim(type.dims[c]).size, layout.cut_of(c), index[c], a);
    }
    if (place(worker, a) != wanted) return false;
  }
  return true;
}

bool MeshRun::is_stored(ValueId id, const Index& index, std::int64_t worker) const {
  return is_at(m_.type(id), index, worker, held_axes(m_, m_.type(id), m_.type(id).state));
}

bool MeshRun::is_owned(ValueId id, const Index& index, std::int64_t worker) const {
  return is_at(m_.type(id), index, worker, 0);
}

MeshRun::Index MeshRun::shape(ValueId id) const {
  Index sizes;
  for (const DimId dim : m_.type(id).dims) sizes.push_back(m_.dim(dim).size);
  return sizes;
}

std::size_t MeshRun::flat(ValueId id, const Index& index) const {
  const Index sizes = shape(id);
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) at = at * sizes[axis] + index[axis];
  return static_cast<std::size_t>(at);
}

template <class Visit>
void MeshRun::for_each_index(ValueId id, const Visit& visit) const {
  const Index sizes = shape(id);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  Index index(sizes.size(), 0);
  for (bool more = true; more;) {
    visit(index);
    more = false;
    for (std::size_t axis = sizes.size(); axis-- > 0 && !more;) {
      more = ++index[axis] < sizes[axis];
      if (!more) index[axis] = 0;
    }
  }
}

double MeshRun::call(FnId fn, std::span<const double> args) const {
  std::vector<std::vector<Word>> words;
  for (const double arg : args) words.push_back({Word{.f = arg}});
  const std::vector<std::span<const Word>> spans(words.begin(), words.end());
  std::vector<Word> out(1);
  evaluate(m_.fn(fn), spans, out);
  return out[0].f;
}

double MeshRun::at(ValueId id, const Index& index, std::int64_t worker) const {
  const std::optional<double>& held = held_.at(id)[static_cast<std::size_t>(worker)][flat(id, index)];
  if (!held) throw std::logic_error("worker " + std::to_string(worker) + " lacks an element of %" + m_.value(id).name);
  return *held;
}

void MeshRun::store(const Op& op, const Whole& whole) {
  const ValueId to = op.results[0];
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (is_stored(to, index, w)) held_[to][static_cast<std::size_t>(w)][flat(to, index)] = whole.at(flat(to, index));
    }
  });
}

void MeshRun::one(const Op& op) {
  if (op.code == OpCode::output) return;
  std::size_t count = 1;
  for (const std::int64_t size : shape(op.results[0])) count *= static_cast<std::size_t>(size);
  held_[op.results[0]].assign(static_cast<std::size_t>(workers()), Held(count));
  switch (op.code) {
    case OpCode::input:
      return store(op, inputs_.at(op.name));
    case OpCode::map:
    case OpCode::apply:
      return map(op);
    case OpCode::reduce:
      return reduce(op);
    case OpCode::mxv:
    case OpCode::mxvt:
    case OpCode::contract:
      return contract(op);
    case OpCode::gather:
      return gather(op);
    case OpCode::scatter:
      return scatter(op);
    case OpCode::relayout:
      if (rearranges_on_the_way(op)) return rearrange(op, true);
      return store(op, value(op.operands[0]));
    case OpCode::transpose:
      return transpose(op);
    case OpCode::reduce_by:
      return reduce_by(op);
    case OpCode::scan:
    case OpCode::sort:
      return along(op);
    case OpCode::slice:
    case OpCode::concat:
    case OpCode::reshape:
    case OpCode::pick:
      return rearrange(op, false);
    case OpCode::literal:
      return store(op, {static_cast<double>(op.literal.at(0).i)});
    case OpCode::observe:
    case OpCode::within:
      return store(op, value(op.operands[0]));
    default:
      throw std::logic_error("an operator that is not simulated");
  }
}

void MeshRun::map(const Op& op) {
  const ValueId to = op.results[0];
  const LawUse* law = m_.type(to).state.is_pre() ? law_in_force(m_, op) : nullptr;
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (!is_stored(to, index, w)) continue;
      std::optional<double>& made = held_[to][static_cast<std::size_t>(w)][flat(to, index)];
      std::vector<Index> places;
      for (const ValueId v : op.operands) {
        const std::vector<std::ptrdiff_t> met = met_axes(m_.type(to).dims, m_.type(v).dims);
        Index& place = places.emplace_back();
        for (const std::ptrdiff_t axis : met) place.push_back(index[static_cast<std::size_t>(axis)]);
      }
      if (law != nullptr && law->kind == LawKind::pushdown && !is_owned(to, index, w)) {
        made =
            at(op.operands[static_cast<std::size_t>(law->operand)], places[static_cast<std::size_t>(law->operand)], w);
        continue;
      }
      std::vector<double> args;
      for (std::size_t i = 0; i < places.size(); ++i) args.push_back(at(op.operands[i], places[i], w));
      made = call(op.fns[0], args);
    }
  });
}

// A reduction that crosses workers takes each element at its owner; any other takes what the worker has.
void MeshRun::reduce(const Op& op) {
  const ValueId from = op.operands[0], to = op.results[0];
  const bool crosses = m_.type(to).state.is_pre() && !m_.type(from).state.is_pre();
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (is_stored(to, index, w))
        held_[to][static_cast<std::size_t>(w)][flat(to, index)] = reducer_identity(m_.fn(op.fns[0])).value()[0].f;
    }
  });
  for_each_index(from, [&](const Index& index) {
    Index rest;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (!op.over.empty() && !contains(op.over, m_.type(from).dims[axis])) rest.push_back(index[axis]);
    }
    for (std::int64_t w = 0; w < workers(); ++w) {
      const bool takes = crosses                        ? is_owned(from, index, w)
                         : m_.type(from).state.is_pre() ? is_stored(from, index, w)
                                                        : is_stored(to, rest, w);
      if (!takes) continue;
      std::optional<double>& sum = held_[to][static_cast<std::size_t>(w)][flat(to, rest)];
      if (!sum) throw std::logic_error("worker " + std::to_string(w) + " contributes where nobody collects");
      sum = call(op.fns[0], std::vector<double>{*sum, at(from, index, w)});
    }
  });
}

// A worker takes an element at its owner, or, where none contributes, each element for which it has the result. It
// needs the key, too.
void MeshRun::reduce_by(const Op& op) {
  const ValueId walked = op.operands[walked_operand(m_, op)], to = op.results[0];
  const bool crosses = m_.type(to).state.is_pre();
  const std::vector<DimId>&dims = m_.type(walked).dims, &of_keys = m_.type(op.operands[1]).dims;
  const std::vector<std::ptrdiff_t> places = grouped_places(m_, op);
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (is_stored(to, index, w))
        held_[to][static_cast<std::size_t>(w)][flat(to, index)] = reducer_identity(m_.fn(op.fns[0])).value()[0].f;
    }
  });
  for_each_index(walked, [&](const Index& index) {
    Index made(m_.type(to).dims.size(), 0), at_keys;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (places[axis] != no_axis) made[static_cast<std::size_t>(places[axis])] = index[axis];
    }
    for (const DimId d : of_keys)
      at_keys.push_back(index[static_cast<std::size_t>(std::find(dims.begin(), dims.end(), d) - dims.begin())]);
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (!(crosses ? is_owned(walked, index, w) : is_stored(to, made, w))) continue;
      made[key_place(m_, op)] = static_cast<std::int64_t>(at(op.operands[1], at_keys, w));
      std::optional<double>& sum = held_[to][static_cast<std::size_t>(w)][flat(to, made)];
      if (!sum) throw std::logic_error("worker " + std::to_string(w) + " contributes where nobody collects");
      const bool single = m_.type(op.operands[0]).dims.empty();
      sum = call(op.fns[0], std::vector<double>{*sum, at(op.operands[0], single ? Index{} : index, w)});
      made[key_place(m_, op)] = 0;
    }
  });
}

// Each worker takes, for the elements of the result that it has, the terms whose summed indices are its own over the
// axes that cut them.
void MeshRun::contract(const Op& op) {
  const ValueId to = op.results[0];
  const std::vector<State> states{m_.type(op.operands[0]).state, m_.type(op.operands[1]).state};
  const Contraction c = contraction(m_, op, states);
  const std::string summed = c.labels.summed(), all = c.labels.result + summed;
  std::vector<std::int64_t> sizes;
  for (const char label : all) sizes.push_back(m_.dim(label_dim(m_, op, c.labels, label)).size);
  const auto is_own = [&](const Index& at, std::int64_t w) {
    for (std::size_t l = c.labels.result.size(); l < all.size(); ++l) {
      for (std::size_t a = 0; a < m_.mesh.size(); ++a) {
        if ((c.cuts_of(all[l]) >> a & 1) == 0) continue;
        if (owner(sizes[l], cutting(op, c, all[l], a), at[l], a) != place(w, a)) return false;
      }
    }
    return true;
  };
  const auto of = [&](std::size_t operand, const Index& at) {
    Index index;
    for (const char label : c.labels.operands[operand]) index.push_back(at[all.find(label)]);
    return index;
  };
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (!is_stored(to, index, w)) continue;
      std::optional<double> total;
      Index tuple = index;
      tuple.resize(all.size(), 0);
      const bool nothing = std::any_of(sizes.begin() + std::ssize(index), sizes.end(), [](auto n) { return n == 0; });
      while (!nothing) {
        if (is_own(tuple, w)) {
          const std::vector<double> args{at(op.operands[0], of(0, tuple), w), at(op.operands[1], of(1, tuple), w)};
          const double term = call(op.fns[0], args);
          total = total ? call(op.fns[1], std::vector<double>{*total, term}) : term;
        }
        std::size_t l = all.size();
        while (l > index.size() && ++tuple[l - 1] == sizes[l - 1]) tuple[--l] = 0;
        if (l == index.size()) break;
      }
      if (!total) total = reducer_identity(m_.fn(op.fns[1]))->at(0).f;
      if (takes_up(op, index, w)) total = call(op.fns[1], std::vector<double>{at(op.operands[2], index, w), *total});
      held_[to][static_cast<std::size_t>(w)][flat(to, index)] = total;
    }
  });
}

// What terms are reduced onto counts once in contributions, unless it is contributions itself.
bool MeshRun::takes_up(const Op& op, const Index& index, std::int64_t w) const {
  if (!is_onto(op)) return false;
  const bool once = m_.type(op.results[0]).state.is_pre() && !m_.type(op.operands[2]).state.is_pre();
  return !once || is_owned(op.operands[2], index, w);
}

// The cuts of the axis that says how an axis of the mesh cuts a label.
AxisCut MeshRun::cutting(const Op& op, const Contraction& c, char label, std::size_t axis) const {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    const Layout own(m_, op.operands[i]);
    for (std::size_t k = 0; k < c.labels.operands[i].size(); ++k) {
      if (c.labels.operands[i][k] == label && (own.cuts(k) >> axis & 1) != 0) return own.cut_of(k);
    }
  }
  throw std::logic_error("a label that no operand is cut by");
}

void MeshRun::gather(const Op& op) { store(op, value(op.operands[0])); }
void MeshRun::scatter(const Op& op) { store(op, value(op.operands[0])); }

void MeshRun::transpose(const Op& op) {
  const ValueId to = op.results[0];
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (is_stored(to, index, w))
        held_[to][static_cast<std::size_t>(w)][flat(to, index)] = at(op.operands[0], {index[1], index[0]}, w);
    }
  });
}

// A worker needs all of a line for each of its elements; of a scan of cut lines its own part, and what others send.
// Workers that sort together have them at their owners.
void MeshRun::along(const Op& op) {
  const ValueId from = op.operands[0], to = op.results[0];
  const std::size_t axis = worked_place(m_, op);
  const AxisCut cut = m_.type(to).cuts.empty() ? AxisCut() : m_.type(to).cuts[axis];
  const bool across = sorts_across(m_, op), carried = op.code == OpCode::scan && cut.axes != 0 && cut.block == 0;
  const Whole all = across || carried ? value(from) : Whole();
  for_each_index(to, [&](const Index& index) {
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (!is_stored(to, index, w)) continue;
      std::vector<double> line;
      Index at_line = index;
      for (at_line[axis] = 0; at_line[axis] < m_.dim(op.over[0]).size; ++at_line[axis]) {
        const bool sent = across || (carried && !is_owned(to, at_line, w));
        line.push_back(sent ? all.at(flat(from, at_line)) : at(from, at_line, w));
      }
      const auto here = index[axis];
      std::optional<double>& made = held_[to][static_cast<std::size_t>(w)][flat(to, index)];
      if (op.code == OpCode::sort) {
        std::sort(line.begin(), line.end(),
                  [](double a, double b) { return comes_before(Scalar::f64, Word::real(a), Word::real(b)); });
        made = line[static_cast<std::size_t>(here)];
        continue;
      }
      made = line[0];
      for (std::int64_t k = 1; k <= here; ++k) {
        made = call(op.fns[0], std::vector<double>{*made, line[static_cast<std::size_t>(k)]});
      }
    }
  });
}

namespace {

// The indices of a slice, one by one, as Python's manual says.
std::vector<std::int64_t> slice_indices(const Derivation& slice, std::int64_t size) {
  const auto from_start = [&](std::int64_t bound) { return bound < 0 ? bound + size : bound; };
  std::vector<std::int64_t> found;
  if (slice.step > 0) {
    std::int64_t i = std::max<std::int64_t>(0, from_start(slice.begin.value_or(0)));
    for (; i < size && (!slice.end || i < from_start(*slice.end)); i += slice.step) found.push_back(i);
  } else {
    std::int64_t i = slice.begin ? std::min(size - 1, from_start(*slice.begin)) : size - 1;
    for (; i >= 0 && (!slice.end || i > from_start(*slice.end)); i += slice.step) found.push_back(i);
  }
  return found;
}

}  // namespace

// Where an element of a slice, concatenation or reshape stands, and in which operand.
MeshRun::Index MeshRun::source_of(const Op& op, const Index& index, std::size_t& operand) const {
  const std::vector<DimId>& dims = m_.type(op.results[0]).dims;
  const auto found = std::find(dims.begin(), dims.end(), op.dim) - dims.begin();
  const bool splits = found == std::ssize(dims);
  const auto at = splits ? std::find(dims.begin(), dims.end(), op.over[0]) - dims.begin() : found;
  Index source(index.begin(), index.begin() + at);
  std::int64_t line = index.at(static_cast<std::size_t>(at));
  operand = 0;
  const OpCode code = rearrangement_of(m_, op);
  if (code == OpCode::slice) {
    const std::int64_t by = op.literal.empty() ? 0 : op.literal[0].i;
    std::int64_t from = line;
    if (const Derivation& sum = m_.dim(op.over[0]).derived; sum.kind == Derivation::Kind::sum) {
      for (std::size_t part = 0; sum.sources[part] != op.dim; ++part) from += m_.dim(sum.sources[part]).size;
    } else {
      from = slice_indices(m_.dim(op.dim).derived, m_.dim(op.over[0]).size).at(static_cast<std::size_t>(line));
    }
    source.push_back(from + by);
  } else if (code == OpCode::pick) {
    const Whole mask = value(op.operands[1]);
    std::int64_t from = 0;
    for (std::int64_t seen = 0; seen <= line; ++from) seen += mask.at(static_cast<std::size_t>(from)) != 0 ? 1 : 0;
    source.push_back(from - 1);
  } else if (code == OpCode::concat) {
    for (; line >= m_.dim(op.over[operand]).size; ++operand) line -= m_.dim(op.over[operand]).size;
    source.push_back(line);
  } else if (splits) {
    source.push_back(line * m_.dim(op.over[1]).size + index.at(static_cast<std::size_t>(at) + 1));
  } else {
    source.push_back(line / m_.dim(op.over[1]).size);
    source.push_back(line % m_.dim(op.over[1]).size);
  }
  source.insert(source.end(), index.begin() + at + (splits ? 2 : 1), index.end());
  return source;
}

// A worker that picks has all of the mask, and the number.
void MeshRun::need_mask(const Op& op, std::int64_t worker) const {
  for_each_index(op.operands[1], [&](const Index& index) { (void)at(op.operands[1], index, worker); });
  (void)at(op.operands[2], {}, worker);
}

// `moves`: elements come from wherever they are.
void MeshRun::rearrange(const Op& op, bool moves) {
  const ValueId to = op.results[0];
  std::vector<Whole> sent;
  for (const ValueId v : op.operands) sent.push_back(moves ? value(v) : Whole());
  for_each_index(to, [&](const Index& index) {
    std::size_t operand = 0;
    const Index source = source_of(op, index, operand);
    for (std::int64_t w = 0; w < workers(); ++w) {
      if (!is_stored(to, index, w)) continue;
      if (rearrangement_of(m_, op) == OpCode::pick) need_mask(op, w);
      held_[to][static_cast<std::size_t>(w)][flat(to, index)] =
          moves ? sent[operand].at(flat(op.operands[operand], source)) : at(op.operands[operand], source, w);
    }
  });
}

MeshRun::Whole MeshRun::value(ValueId id) const {
  const State& state = m_.type(id).state;
  Whole whole(held_.at(id).at(0).size());
  for_each_index(id, [&](const Index& index) {
    std::optional<double> made;
    for (std::int64_t w = 0; w < workers(); ++w) {
      const std::optional<double>& here = held_.at(id)[static_cast<std::size_t>(w)][flat(id, index)];
      if (!here) continue;
      if (made && state.is_pre()) {
        made = call(state.reducer, std::vector<double>{*made, *here});
      } else if (made && !are_same(*made, *here)) {
        throw std::logic_error("copies of %" + m_.value(id).name + " differ");
      } else {
        made = here;
      }
    }
    if (!made) throw std::logic_error("nobody has an element of %" + m_.value(id).name);
    whole[flat(id, index)] = *made;
  });
  return whole;
}

}  // namespace kasen::testing
