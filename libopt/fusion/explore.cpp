#include "libopt/fusion/explore.h"

#include <algorithm>

namespace kasen::fusion {
namespace {

class Explorer {
 public:
  explicit Explorer(const Dag& dag) : dag_(dag) {
    memo_.groups.resize(dag.size());
    memo_.covered.resize(dag.size());
  }

  Memo run() {
    for (const NodeId h : dag_.ids()) {
      if (dag_[h].form == Form::read) continue;
      open(h);
      fuse(h);
      close(h);
    }
    return std::move(memo_);
  }

 private:
  // Algorithm 1, lines 7 to 10.
  void open(NodeId h) {
    for (const Template& shape : templates()) {
      ++memo_.asked;
      if (shape.open(dag_, h)) create_plans(h, no_node, shape);
    }
  }

  // Lines 11 to 15: asks for each input, and for each template of its group that goes on.
  void fuse(NodeId h) {
    for (const NodeId in : choices(h)) {
      for (const Template& shape : templates()) {
        if (!goes_on(in, [&](TemplateId type) { return type == shape.id; })) continue;
        ++memo_.asked;
        if (shape.fuse(dag_, h, in)) create_plans(h, in, shape);
      }
    }
  }

  // Lines 16 to 22. The plans of one template repeat one another, since they were made for each input that begins them.
  void close(NodeId h) {
    Group kept;
    for (Entry& entry : memo_[h]) {
      const Template& shape = row(entry.type);
      entry.close = shape.close(dag_, h);
      const bool single = is_closed(entry.close) && entry.references() == 0 && !shape.joins(dag_, h);
      const bool repeated = std::find(kept.begin(), kept.end(), entry) != kept.end();
      if (entry.close != Close::closed_invalid) memo_.covered[h].insert(entry.type);
      if (entry.close != Close::closed_invalid && !single && !repeated) kept.push_back(std::move(entry));
    }
    std::sort(kept.begin(), kept.end(),
              [](const Entry& a, const Entry& b) { return a.type != b.type ? a.type < b.type : a.refs < b.refs; });
    memo_[h] = std::move(kept);
  }

  // Makes every combination of inputs that the template may merge. Each of them absorbs `from`, if it is given.
  void create_plans(NodeId h, NodeId from, const Template& shape) {
    Group plans{Entry{shape.id, std::vector<NodeId>(dag_[h].inputs.size(), no_node), Close::open_valid}};
    if (from != no_node) take_up(h, from, plans[0]);
    for (const NodeId in : choices(h)) {
      if (in == from || !merges(h, in, shape)) continue;
      const size_t count = plans.size();
      for (size_t i = 0; i < count; ++i) {
        plans.push_back(plans[i]);
        take_up(h, in, plans.back());
      }
    }
    Group& group = memo_[h];
    group.insert(group.end(), std::make_move_iterator(plans.begin()), std::make_move_iterator(plans.end()));
  }

  bool merges(NodeId h, NodeId in, const Template& shape) {
    if (!goes_on(in, [&](TemplateId type) { return takes(shape.id, type); })) return false;
    ++memo_.asked;
    return shape.merge(dag_, h, in);
  }

  template <class Wanted>
  [[nodiscard]] bool goes_on(NodeId in, Wanted wanted) const {
    const Group& group = memo_[in];
    return std::any_of(group.begin(), group.end(),
                       [&](const Entry& entry) { return !is_closed(entry.close) && wanted(entry.type); });
  }

  // An operator that has an input twice absorbs it at both positions or at none.
  void take_up(NodeId h, NodeId in, Entry& entry) const {
    for (size_t i = 0; i < entry.refs.size(); ++i) {
      if (dag_[h].inputs[i] == in) entry.refs[i] = in;
    }
  }

  [[nodiscard]] bool stays_apart(NodeId h, NodeId in) const {
    const Node& node = dag_[h];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == in && node.apart[i]) return true;
    }
    return false;
  }

  // Returns the inputs that may be absorbed, each once.
  [[nodiscard]] std::vector<NodeId> choices(NodeId h) const {
    std::vector<NodeId> inputs;
    for (const NodeId in : dag_[h].inputs) {
      const bool repeated = std::find(inputs.begin(), inputs.end(), in) != inputs.end();
      const bool ends = !goes_on(in, [](TemplateId) { return true; });
      if (!repeated && !ends && !stays_apart(h, in) && inputs.size() < most_choices) inputs.push_back(in);
    }
    return inputs;
  }

  const Dag& dag_;
  Memo memo_;
};

}  // namespace

Memo explore(const Dag& dag) { return Explorer(dag).run(); }

}  // namespace kasen::fusion
