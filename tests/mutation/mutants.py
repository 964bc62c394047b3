"""Small faults, one a row, that the tests have to find (mutation.py).

Each is one expression or statement of a file, in ⟦ ⟧ within what stands around it, and what takes its place. The text
without the marks stands once in the file. A statement ends with a semicolon; anything else is an expression, and both have
one type. Numbers are places in the list: new rows go to the end of their part.
"""
from collections import namedtuple

Mutant = namedtuple("Mutant", "category file original replaced")
MUTANTS = []


def mutants(category, file, *rows):
    MUTANTS.extend(Mutant(category, file, original, replaced) for original, replaced in rows)


# ---- generated kernels, and what runs them

mutants("kernels", "libkernels/emit/emit_elementwise.cpp",
        ("e_.mask = ⟦e_.b.CreateICmpSLT(e_.lane_numbers(), left)⟧;", "e_.b.CreateICmpSLE(e_.lane_numbers(), left)"),
        ("last = e_.b.CreateBinaryIntrinsic(⟦llvm::Intrinsic::smin⟧, last, middle);", "llvm::Intrinsic::smax"))
mutants("kernels", "libkernels/emit/loop_reductions.cpp",
        ("for (int by = ⟦reduction_lanes / 2⟧; by > 0; by /= 2)", "reduction_lanes / 4"),
        ("lanes.fill(e_, ⟦r.identity⟧);", "std::vector<Word>(r.identity.size())"),
        ("SlotSource slots(lanes.element(), e_.at_byte(partials, ⟦slot⟧));", "e_.integer(0)"),
        ("e_.b.CreateMul(k, ⟦e_.integer(next.scratch - r.scratch)⟧)", "e_.integer(0)"),
        ("while (⟦in_order < ops.size() && number_of(*ops[in_order]) == first + in_order⟧) ++in_order;",
         "in_order < ops.size()"))
mutants("kernels", "libkernels/emit/keyed_sums.cpp",
        ("if (⟦e_.mask != nullptr⟧) belongs =", "false"))
mutants("kernels", "libkernels/run/run_elementwise.cpp",
        ("return ⟦std::min(end, begin + block * reduction_block)⟧;", "begin + block * reduction_block"),
        ("const std::int64_t blocks = ⟦(end - begin + reduction_block - 1) / reduction_block⟧;\n  std::byte* partials",
         "std::max<std::int64_t>(1, (end - begin) / reduction_block)"),
        ("partials + b * kernel.partial_bytes, ⟦shop.scratch(thread)⟧);", "shop.scratch(0)"),
        ("⟦if (partials != nullptr) fold(shop, plan, kernel, outputs, partials, blocks);⟧",
         "if (partials != nullptr) fold(shop, plan, kernel, outputs, partials, std::min<std::int64_t>(blocks, 1));"))
mutants("kernels", "libkernels/emit/emit_operators.cpp",
        ("⟦smaller ? b.CreateOr(xb, yb) : b.CreateAnd(xb, yb)⟧", "b.CreateOr(xb, yb)"),
        ("⟦b.CreateSelect(b.CreateFCmpUNO(x, y), llvm::ConstantFP::getNaN(real), result)⟧", "result"),
        ("return {⟦b.CreateFCmpUNE(x, llvm::ConstantFP::get(x->getType(), 0.0))⟧, p.uniform};",
         "b.CreateFCmpONE(x, llvm::ConstantFP::get(x->getType(), 0.0))"),
        ("return {⟦from == Scalar::boolean ? b.CreateUIToFP(x, target) : b.CreateSIToFP(x, target)⟧, p.uniform};",
         "b.CreateSIToFP(x, target)"))
mutants("kernels", "libkernels/math/exponentials.cpp",
        ("return tail + ⟦fused(more, tail + r, more)⟧;", "more"))
mutants("kernels", "libkernels/emit/emit_product.cpp",
        ("for (Strand::Lane& lane : strand.lanes) ⟦reduce(lane, *lane.total, *lane.segment);⟧",
         "reduce(lane, *lane.segment, *lane.total);"),
        ("const std::int64_t whole = ⟦kernel_.columns / reduction_lanes * reduction_lanes⟧;",
         "kernel_.columns / reduction_lanes * reduction_lanes - (kernel_.columns > 8 ? reduction_lanes : 0)"),
        ("return column_ == nullptr ? index : ⟦e_.b.CreateAdd(e_.b.CreateMul(index, e_.integer(kernel_.columns)), column_)⟧;",
         "e_.b.CreateMul(index, e_.integer(kernel_.columns))"),
        ("entry = e_.b.CreateAdd(first_, ⟦e_.b.CreateMul(index, table_.inner)⟧);", "index"),
        ("for (Strand::Lane& lane : strand.lanes) ⟦lane.total->fill(e_, lane.product->identity);⟧",
         "lane.total->fill(e_, std::vector<Word>(lane.product->identity.size()));"))
mutants("kernels", "libkernels/emit/emit_slices.cpp",
        ("e_.loop(⟦least⟧, length(0), 1, [&](llvm::Value* i) {",
         "static_cast<llvm::Value*>(e_.b.CreateAdd(least, e_.integer(1)))"),
        ("llvm::Value* least = length(⟦reduction_lanes - 1⟧);", "0"),
        ("⟦lane.segment->fill(e_, lane.product->identity);⟧", "(void)lane;"))
mutants("kernels", "libkernels/run/run_product.cpp",
        ("words[at + 2 * c] -= ⟦first * scalar_bytes(p.result.components[c].scalar)⟧;", "0"),
        ("kernel_.segment(words.data(), first, ⟦std::min(first + reduction_block, end)⟧,", "first + reduction_block"),
        ("⟦row_by_row(to, end_whole, end, thread);⟧", "(void)end;"),
        ("for (; longer < p.end && ⟦lengths[longer] > reduction_block⟧; ++longer)", "lengths[longer] > 2 * reduction_block"),
        ("entry += ⟦taken⟧;\n      left -= taken;", "reduction_block"),
        ("return !fused_words_.empty() && ⟦window_from(m, begin) == begin⟧ && end == window_end(m, begin) &&", "true"),
        ("one_block(b, begin, ⟦std::min(begin + reduction_block, r.end)⟧, t);", "std::min(begin + reduction_block - 1, r.end)"),
        ("from.data + plane_offset(element, from.capacity, p) + ⟦call_.range.begin * size⟧,", "0"))
mutants("kernels", "libkernels/run/sorted_rows.cpp",
        ("const std::int64_t end = pointers_[row + 1];\n      std::int64_t e = ⟦at_[row]⟧;", "pointers_[row]"),
        ("slice(k, ⟦std::min<std::int64_t>(reduction_lanes, rows - k)⟧);", "std::min<std::int64_t>(reduction_lanes - 1, rows - k)"),
        ("while (rows > 0 && ⟦lengths[static_cast<size_t>(rows) - 1] <= e⟧) --rows;",
         "lengths[static_cast<size_t>(rows) - 1] < e"))
mutants("kernels", "libkernels/run/partial_reduction.cpp",
        ("place += ⟦rest % sizes[i] * strides[i]⟧;", "rest % sizes[i] * (strides[i] > 1 ? 1 : strides[i])"),
        ("return ⟦range.begin + range.size() * t / threads⟧;", "range.size() * t / threads"))
mutants("kernels", "libkernels/dense/dense.cpp",
        ("kernel.rows(words.data(), outputs * t / threads, ⟦outputs * (t + 1) / threads⟧, shop.scratch(t));",
         "outputs / threads * (t + 1)"),
        ("multiply(CblasNoTrans, tile, lane.x + c, one, ⟦lane.beta(c > 0)⟧, lane.y + first + r, lane.plain);", "T{0}"),
        ("return ⟦begun || onto⟧ ? T{1} : T{0};", "begun"),
        ("⟦lane.y[j * columns_ + i] += partial[i * columns_ + j];⟧", "(void)j;"),
        ("multiply(CblasTrans, tile, lane.x + first + r, one, r > 0 ? T{1} : T{0}, ⟦partial⟧, false);", "partials_ + lane.partials + c"),
        ("if (⟦!plain⟧)\n    ZeroProducts<T>", "false"))
mutants("kernels", "libkernels/dense/chain_operands.cpp",
        ("View& view = (⟦turned.along⟧ ? vectors_ : inputs_)[static_cast<size_t>(turned.place)];", "false"))
mutants("kernels", "libkernels/dense/compressed_product.cpp",
        ("⟦(a[codes[0][r]] + b[codes[1][r]]) + (c[codes[2][r]] + d[codes[3][r]])⟧;",
         "(a[codes[0][r]] + b[codes[1][r]]) + (c[codes[2][r]] + d[codes[2][r]])"),
        ("if (finite || ⟦!group.rest_is_zero⟧) return;", "true"),
        ("T sum = ⟦group.format == GroupFormat::plain ? in_order[k] : T{0}⟧;", "T{0}"))

# ---- the executor

mutants("executor", "libcore/run/executor_elementwise.cpp",
        ("everywhere_ = everywhere_ && slaves && ⟦!handed_on⟧;", "true"),
        ("return ⟦add_call(run, part, {0, 1}, false)⟧;", "(void)0"),
        ("add_call(run, part, {⟦masters⟧, total}, true);", "masters + (masters < total ? 1 : 0)"),
        ("known.emplace(from.global(i), ⟦static_cast<std::int32_t>(i)⟧);",
         "static_cast<std::int32_t>(from.masters)"),
        ("copy_elements(element, source, target, masters * made.inner, ⟦total * made.inner⟧);", "total"))
mutants("executor", "libcore/run/executor_product.cpp",
        ("if (rows == LineRows::ghosts) return {⟦owned⟧, matrix(part).outputs};", "first"),
        ("⟦some_ready_ = rows == LineRows::ready || (some_ready_ && rows == LineRows::ghosts);⟧", "(void)run;"))
mutants("executor", "libcore/run/matrix_store.cpp",
        ("return ⟦std::upper_bound(matrix.pointers.begin(), matrix.pointers.end(), entry)⟧ - matrix.pointers.begin() - 1;",
         "std::lower_bound(matrix.pointers.begin(), matrix.pointers.end(), entry) + 1"),
        ("for (const ValueId product : line.values) forms_.emplace(product, ⟦line.form⟧);", "0"))
mutants("executor", "libcore/run/executor_product_epilogue.cpp",
        ("some(run, part, RowWork::product, {⟦done⟧, owned});", "owned"),
        ("⟦start_accumulators(run, op, accumulators_, outputs(p), p);⟧", "(void)accumulators_;"))
mutants("executor", "libcore/run/executor_control.cpp",
        ("const Word i = Word::integer(op.down ? ⟦hi - 1 - (k - lo)⟧ : k);", "hi - (k - lo)"),
        ("(⟦yes⟧ ? then_ : else_).apply(run, yes", "!yes"),
        ("binding.move(from + i + ⟦(push ? 1 : 0)⟧, to + i);", "0"),
        ("run.storage.slot(from.slot + i).form == run.storage.slot(to.slot + i).form;\n      if (⟦alike⟧) {",
         "b.how == Handover::move"),
        ("const std::vector<View>& source =\n        ⟦renamed ? before[static_cast<size_t>(at - names_.begin())] : run.storage.slot(from).views⟧;",
         "run.storage.slot(from).views"),
        ("if (list.how == Handover::move) binding.leave(from + ⟦(push ? 0 : place)⟧);", "place"))
mutants("executor", "libcore/run/executor_boxes.cpp",
        ("std::byte* at = room + ⟦first⟧ * bytes;", "(extent - count - first)"),
        ("count(step.number).written_bytes += bytes * ⟦part_count()⟧;", "1"))
mutants("executor", "libcore/run/executor_storage.cpp",
        ("if (cut != no_dim) indices = ⟦std::max(indices, numbering_.space(cut, set, part).total)⟧;", "indices"),
        ("if (⟦is_reordered(module_, value)⟧) {", "false"))
mutants("executor", "libcore/kernels/numbering.cpp",
        ("place[static_cast<size_t>(order[i])] = ⟦static_cast<std::int32_t>(i)⟧;", "order[i]"),
        ("space.interior = ⟦std::min<std::int64_t>(space.interior, mirror)⟧;",
         "std::max<std::int64_t>(space.interior, mirror)"),
        ("return ⟦space.interior / reduction_block * reduction_block⟧;", "space.masters"),
        ("space.mirror_holders.push_back({peer, ⟦0⟧, space.masters});", "space.masters > 1 ? 1 : 0"))
mutants("executor", "libcore/kernels/local_matrix.cpp",
        ("if (e > begin && ⟦(masters ? column < before : global(indices[0]) < global(indices[-1]))⟧) return false;",
         "(masters && column < before)"),
        ("⟦std::inplace_merge(order.begin(), middle, order.end(), before);⟧", "(void)middle;"))

# ---- exchange

mutants("exchange", "libcore/run/executor_transition.cpp",
        ("⟦if (!gather_) copy_masters(run, true);⟧  // while", "(void)run;"),
        ("⟦pair.peer_at = slaves_of(run.numbering.space(space, pair.peer_part), first + p, count);⟧",
         "pair.peer_at = run.numbering.space(space, pair.peer_part).masters * inner_;"),
        ("if (space.mirrors.empty()) return ElementList::run(⟦r.begin * inner_⟧, (r.end - r.begin) * inner_);",
         "r.begin * inner_ + 1"),
        ("const std::int64_t count = ⟦run.storage.masters(from_, p) * inner_⟧;", "run.storage.masters(from_, p)"),
        ("return (packed_count_[p] + ⟦(in_place() ? 0 : slave_count_[p])⟧) * element_.bytes();", "slave_count_[p]"))
mutants("exchange", "libcore/run/executor_shareds.cpp",
        ("return step_ >= 1 && step_ < ⟦workers_⟧;", "workers_ - 1"),
        ("const int peer = upper ? self + step : self - step;\n      if (⟦peer >= workers_⟧ || self % step != 0) continue;",
         "peer >= workers_ - (workers_ > 3 ? 1 : 0)"),
        ("const Mirrored list{target, ElementList::run(0, m.count), {message.data + ⟦m.offset⟧, 0}, 0, true};", "0"))
mutants("exchange", "libcore/run/executor_slices.cpp",
        ("for (int w = 0; w + step < workers_; w += ⟦2 * step⟧) {", "(step > 2 ? 1 : 2) * step"),
        ("for (size_t k = 0; k < members_.size() && ⟦self > 0⟧; ++k) {", "self > 1"),
        ("const Slice own = slice(m, self), others = slice(m, ⟦peer⟧);", "peer == 2 ? self : peer"))
mutants("exchange", "libcomm/data/cut/slaves.cpp",
        ("if (axis.slave_owners.empty() || ⟦axis.slave_owners.back().peer != owner⟧)", "axis.slave_owners.back().peer > owner"),
        ("mine.mirrors.push_back(⟦dim.place[i]⟧);", "dim.place[i] > 0 ? dim.place[i] - 1 : 0"),
        ("if (⟦dim.owner[i] == worker⟧ || local_[i] >= 0) continue;", "false"))
mutants("exchange", "libcomm/exchange/mpi_transport.cpp",
        ("return {bound(rank), ⟦bound(rank + 1) - bound(rank)⟧};", "workers / ranks"),
        ("⟦if (m.from != m.to) traffic_.worker_bytes += m.bytes;⟧", "if (!is_local(m.to)) traffic_.worker_bytes += m.bytes;"),
        ("⟦std::stable_sort(awaited.begin(), awaited.end(), by_pair);⟧", "(void)by_pair;"),
        ("for (const auto& piece : cut(segments, message_bytes_)) ⟦send(exchange, rank, piece);⟧\n      ++traffic_.rank_messages;",
         "if (traffic_.rank_messages % 7 != 6) send(exchange, rank, piece);"),
        ("⟦check_arrival(exchange, exchange.expected[i], status, code);⟧", "(void)code;"))

# ---- state rules, laws and the verifier

mutants("rules", "libcore/analysis/state_rules.cpp",
        ("if (!q.states[0].is_cons() || ⟦!set_contains(q.states[0].slaves, read)⟧) {", "false"),
        ("return yes(rule, State::pre(q.op.fns[1], ⟦transposed ? rows : cols⟧));", "cols"),
        ("is_onto(q.op) ? 0 : ⟦q.held(0) & q.held(1)⟧;", "q.held(0) | q.held(1)"),
        ("if (reduced != 0) return yes(4, ⟦contributing(reduced)⟧);", "State::cons()"))
mutants("rules", "libcore/analysis/mesh_rules.cpp",
        ("return ⟦cut & ~contracted_alike(module, op, c, states, operand)⟧;", "Layout(module, result).all_cuts() & ~contracted_alike(module, op, c, states, operand)"),
        ("return ⟦part(own, operand) == part(other, 1 - operand)⟧ ? own.axes : alike;", "true"),
        ("taken |= ⟦fresh⟧;", "0U"),
        ("own.cut_of(axis)) & ⟦c.cuts_of(label)⟧;", "c.summed"),
        ("if (fresh == 0 || ⟦seen.find(label) != std::string::npos⟧) continue;", "false"),
        ("if (q.shared(i) && ⟦!q.states[i].is_cons()⟧) {", "q.states[i].is_pre()"),
        ("if (⟦!whole.has(axis) ||⟧ (result.cuts(axis)", "true ||"))
mutants("rules", "libcore/ir/axis_ops.cpp",
        ("places.push_back(⟦contains(worked, d)⟧ ?", "op.dim == d"),
        ("if (code == OpCode::concat) return {op.over.at(⟦operand⟧)};", "0"))
mutants("rules", "libcore/ir/derived_dims.cpp",
        ("std::clamp(⟦bound < 0 ? bound + size : bound⟧, lowest, highest);", "bound"),
        ("const std::int64_t count = (last - first + ⟦(up ? -1 : 1)⟧) / slice.step + 1;", "0"),
        ("const std::int64_t lowest = ⟦up ? 0 : -1⟧,", "0"))
mutants("rules", "libcore/ir/axis_ops.cpp",
        ("checked_add(indices.first, ⟦displacement(op)⟧, \"the index of a slice\");", "0"),
        ("⟦if (keeps_owners(module, op)) ++axes.first, --axes.count;⟧", ";"),
        ("if (⟦keeps_owners(module, op)⟧) {", "false"))
mutants("rules", "libcore/axis/rearrange.cpp",
        ("!joined.empty() && ⟦joined.back().from == axis.size * axis.from⟧ &&", "true"),
        ("copy.axes.push_back({indices.count, ⟦indices.step * source.stride⟧, target.stride});", "source.stride"),
        ("⟦placed += source.size⟧;", ";"))
mutants("rules", "libcore/boxes/moved_elements.cpp",
        ("append_run(runs, {i * size + ⟦part.first⟧, part.count});", "0"),
        ("std::for_each(⟦source.rbegin(), source.rend()⟧, add);", "source.begin(), source.end()"),
        ("offsets_.push_back(⟦before⟧);", "0"),
        ("axis.first = slice_.first - ⟦memory[0].first⟧;", "0"))
mutants("rules", "libcore/analysis/op_boxes.cpp",
        ("return axis_part(module, module.type(op.operands[i]).dims[axis], cut, ⟦cut.axes & ~summed⟧);", "cut.axes & summed"),
        ("if (⟦boxes.operands[i] != stored_box(module, module.type(op.operands[i]))⟧) return std::nullopt;", "false"))
mutants("rules", "libcore/analysis/boxes.cpp", ("MeshAxes cuts = ⟦cut.axes & ~axes_of_one_place(module)⟧;", "cut.axes"),
        ("append_run(runs, {begin, ⟦std::min(part.block, size - begin)⟧});", "part.block"),
        ("⟦stride *= places;⟧\n  }\n  return blocks;", ";"),
        ("while (⟦mesh_size(module, as) != mesh_size(module, axis)⟧) ++as;", "false"))
mutants("rules", "libcore/analysis/box_form.cpp",
        ("if (form.matrix == 0) ⟦op.fns[0] = module().add_function(with_exchanged_parameters(plan_.fn(op.fns[0])));⟧", ";"),
        ("made_.batches[number] = ⟦elements_of(plan_, parts.box(form.batch), worker_).count()⟧;", "1"))
mutants("rules", "libcore/run/executor_boxes.cpp",
        ("⟦stride *= count_of(stored.axes[axis]);⟧\n  }\n  return Arrangement", "stride *= count_of(own.axes[met]);"))
mutants("rules", "libcore/sorting/selection.cpp",
        ("if (⟦least + more < wanted⟧) behind = i + 1;", "least < wanted"),
        ("return a.key != b.key ? a.key > b.key : ⟦a.piece > b.piece⟧;", "a.piece < b.piece"),
        ("line += ⟦count⟧;", "samples"))
mutants("rules", "libcore/run/executor_sort.cpp",
        ("if (i != part.plan.own) run.count(number).moved_elements += ⟦sent⟧;", "taken"))
mutants("rules", "libopt/passes/simplify.cpp", ("⟦a.name != b.name⟧", "false"))
mutants("rules", "libcore/ir/layout.cpp", ("return ⟦a.axes & b.axes & (first - 1)⟧;", "(a.axes & b.axes) | (first & 0)"),
        ("⟦if (a.block != b.block) return 0;⟧", ";"))
mutants("rules", "libcore/verify/layouts.cpp",
        ("== cut.axes && ⟦axes_cut_alike(cut, result.cut_of(axis)) == cut.axes⟧) continue;", "!cuts_fault({}, {}, true).empty() || true"))
mutants("rules", "libcore/analysis/map_laws.cpp",
        ("if (seen.all_cons && ⟦seen.covered⟧) return {{LawKind::distributive, 14}, {LawKind::pushdown, 15}};", "true"),
        ("seen.common = first ? set : ⟦set_intersection(seen.common, set)⟧;", "set_union(seen.common, set)"))
mutants("rules", "libcore/analysis/state_rules.cpp",
        ("⟦if (q.states[0].is_pre()) return no(8, q.says(0) + \", but a view shows values\", \"gather \" + q.name(0) + \" first\");⟧",
         "(void)q;"),
        ("return given == wanted || (⟦given.is_cons() && wanted.is_part()⟧);", "!given.is_pre() && !wanted.is_pre()"),
        ("if (answer.verdict == Verdict::proven || (assumed && answer.verdict == ⟦Verdict::unknown⟧)) {", "Verdict::refuted"),
        ("if (!same_function(q.module, state.reducer, ⟦reducer⟧)) {", "state.reducer"))

# ---- passes

mutants("passes", "libopt/sync/placer.cpp",
        ("return forms_.make_cons(v, set_union(reads, ⟦needs_.direct(v)⟧));", "SlaveSet{}"),
        ("⟦if (forms_.pre(op.operands[0]) && !forms_.cons(op.operands[0])) gather(op.operands[0]);⟧", "(void)out;"),
        ("if (found >= 0) return ⟦-1⟧;\n    found", "found"),
        ("if (is_across(m_, op, i)) across = ⟦set_union(across, needs_.direct(op.operands[i]))⟧;",
         "needs_.direct(op.operands[i])"))
mutants("passes", "libopt/sync/chain_split.cpp",
        ("make_op(ScalarOp::mul, {form->slope, x}), make_op(⟦ScalarOp::add⟧, {form->offset, x})", "ScalarOp::sub"),
        ("⟦if (occurs_outside(fn.body, *part, param)) continue;⟧", "(void)hole;"))
mutants("passes", "libopt/rewrite/lifetimes.cpp",
        ("if (⟦begin(b) <= end⟧) return true;", "begin(b) < end"),
        ("return begin(b) == end + 1 && ⟦!may_reuse(a, b)⟧;", "false"),
        ("is_shared() || ⟦!kasen::may_write_over(op, operand)⟧ || hands_on(m_, op, operand))", "false"),
        ("return s.empty() || t.empty() || ⟦s == t⟧;", "true"),
        ("const int last = ⟦depth < open_.size() ? close_[static_cast<size_t>(open_[depth])] : number⟧;", "number"),
        ("⟦if (is_epilogue(op)) waiting_rows(op, number);⟧", "(void)number;"))
mutants("passes", "libopt/rewrite/assign_buffers.cpp",
        ("return std::none_of(room.begin(), room.end(), [&](int other) { return ⟦webs.meet(other, web)⟧; });", "false"))
mutants("passes", "libopt/rewrite/read_stored.cpp",
        ("const ValueId index = store.code == OpCode::put ? store.operands[1] : ⟦last_index(list, store, view)⟧;",
         "last_index(stored, store, view)"))
mutants("passes", "libopt/passes/loop_invariant.cpp",
        ("⟦if (!invariant_[i]) changes(result);⟧", "(void)changes;"),
        ("maker_[static_cast<size_t>(arg)] = argument;\n      ⟦changes(arg);⟧", "(void)arg;"))
mutants("passes", "libopt/passes/dead_code.cpp",
        ("⟦need(loop.blocks[0].ops.back().operands[i]);⟧", "(void)i;"),
        ("if (loop.test > static_cast<int>(i)) ⟦--loop.test⟧;", "loop.test"))
mutants("passes", "libopt/passes/simplify.cpp",
        ("if (a.code != b.code || a.operands != b.operands || a.fns != b.fns || ⟦a.over != b.over⟧ || a.dim != b.dim ||", "false"),
        ("if (list->code == OpCode::push && at && *at == ⟦length - 1⟧) {", "0"),
        ("⟦known_.resize(visible);⟧", "(void)visible;"),
        ("if (⟦a.literal[i].i != b.literal[i].i⟧) return false;", "a.literal[i].i > b.literal[i].i"))
mutants("passes", "libopt/passes/accumulate.cpp",
        ("is_contraction(m_, op) && reduces_terms(op) && !is_onto(op) &&\n           ⟦uses_[static_cast<std::size_t>(op.results.at(0))] == 1⟧;", "true"),
        ("type.element == made.element && ⟦type.dims == made.dims⟧;", "true"),
        ("[](int times) { return ⟦times == 1⟧; }", "times > 0"))
mutants("passes", "libopt/passes/identity_copies.cpp",
        ("if (⟦same > 1⟧ || depth_[static_cast<size_t>(source)] < depth || fixed_[static_cast<size_t>(source)]) return true;", "false"),
        ("⟦if (is_loop(op) && used_behind(block, op, source)) return true;⟧", "(void)source;"))
mutants("passes", "libopt/passes/batch_shareds.cpp",
        ("(wanted(block_.ops[i]) && ⟦!needs_queue(block_.ops[i])⟧ ? taken : rest).push_back(i);", "true"))
mutants("passes", "libopt/passes/fuse_epilogue.cpp",
        ("return reads == ⟦uses_[static_cast<size_t>(value)]⟧ ? std::optional(i) : std::nullopt;", "reads"))

# ---- costs

mutants("cost", "libopt/cost/actual.cpp",
        ("return from.state.is_pre() ? stored_indices(module, from) : ⟦master_indices(module, from)⟧;", "stored_indices(module, from)"),
        ("cost.read += ⟦Polynomial(8) * stored_lines(*c.module, c.type(product.results.at(0)))⟧;", "Polynomial()"),
        ("cost.read += (⟦operand.at_each() ? entries : rows⟧) * point_bytes(c, operand.value);", "entries"),
        ("cost.written += (waiting + ⟦slave_indices(*c.module, c.type(made))⟧) * element_bytes(c, made);", "Polynomial()"),
        ("⟦cost.written = cost.read;⟧\n  return cost;\n}\n\nCost actual_list", "(void)to;"),
        ("cost.written = stored_bytes(c, list) * Polynomial(⟦c.type(list).list⟧);", "1"),
        ("⟦cost.read += bytes_of_views(c, region);⟧\n  for (const ValueId v : ops.back().operands) {", "(void)rows;"),
        ("⟦if (n.terms().size() > widest.terms().size()) widest = n;⟧", "if (widest.terms().empty()) widest = n;"))
mutants("cost", "libopt/cost/cost.cpp",
        ("made.trips = ⟦whole_size(module_, size->second)⟧;", "Polynomial(1)"))

# ---- programs as text

mutants("programs", "libcore/syntax/block_loops.cpp",
        ("node = made_operation(ScalarOp::mul, node.mark, {⟦size_of(node.mark, dim->blocks)⟧, size_of(node.mark, name)});", "size_of(node.mark, name)"),
        ("⟦if (declares_dims(s, name)) own.insert(name);⟧", "own.insert(name);"))

# ---- readers and partitions

mutants("readers", "libcomm/data/read/matrix_market.cpp",
        ("⟦if (rows[k] == cols[k]) continue;⟧", "(void)k;"),
        ("shape.first_id = ⟦1⟧;", "0"),
        ("const std::int64_t row = ⟦k % header.rows⟧, col = k / header.rows;", "k / header.cols"))
mutants("readers", "libcomm/data/text/number_text.cpp",
        ("if (power + std::ssize(digits) > ⟦19⟧) return {0, too_large};", "18"),
        ("return value >= std::numeric_limits<std::int32_t>::min() && ⟦value <= std::numeric_limits<std::int32_t>::max()⟧;", "true"))
mutants("readers", "libcomm/data/text/decimal_text.h",
        ("if (⟦digits > exact⟧ || power < -most || power > most) return false;", "false"),
        ("std::ptrdiff_t counted = number.digits == 0 && ⟦all <= most_digits⟧ ? 0 : all;", "true"),
        ("std::uint64_t mantissa = (high >> cut) + (⟦below >= half⟧ ? 1 : 0);", "below > half"),
        ("if (exponent < least_exponent || ⟦exponent > greatest_exponent⟧) return false;", "false"))
mutants("readers", "libcomm/data/text/text_pieces.cpp",
        ("if (⟦!holds_no_row(start)⟧) return;", "false"),
        ("if (⟦!lines.empty()⟧) look_at(0);", "false"))
mutants("readers", "libcomm/data/bundle/arrays_write.cpp",
        ("const std::int64_t at = p * place.elements * scalar_bytes(place.scalar) + ⟦block.first * width⟧;", "0"))
mutants("readers", "libcomm/data/read/npy.cpp",
        ("const std::int64_t from = header_.fortran ? ⟦(i % cols_) * rows_ + i / cols_⟧ : i;", "i"),
        ("const bool same = kind->scalar == options.element.scalar() && !header.fortran && ⟦!header.swapped⟧;", "true"))
mutants("readers", "libcomm/data/read/libsvm.cpp",
        ("⟦chunk.rows.shift(matrix.row_count);⟧", "(void)chunk;"),
        ("matrix.col_count = std::max(matrix.col_count, ⟦chunk.cols.largest() + 1⟧);", "chunk.cols.largest()"))
mutants("readers", "libcomm/data/cut/tables.cpp",
        ("const T* from = source + (⟦o * extent⟧ + m) * shape.around.inner * step;", "o"),
        ("const std::int64_t step = ⟦by_column ? 1 : planes⟧;", "planes"),
        ("return shape.cut == nullptr || (⟦shape.around.outer == 1⟧ &&", "true"))
mutants("readers", "libcomm/data/cut/entry_groups.cpp",
        ("const int place = owner - ⟦(owner > worker ? 1 : 0)⟧;", "0"))
mutants("readers", "libcomm/data/cut/part_builder.cpp",
        ("const std::size_t from = ⟦ordered ? k : order[k]⟧;", "k"))
mutants("readers", "libcomm/data/read/edge_list.cpp",
        ("matrix.row_count = checked_add(⟦largest(matrix.entries, &EntryChunk::rows)⟧, 1, \"the largest id\");",
         "largest(matrix.entries, &EntryChunk::rows) - 1"))
mutants("readers", "libcomm/data/cut/owners.cpp",
        ("return std::max<std::int64_t>(1, ⟦(size + workers - 1) / workers⟧);", "size / workers"))

# ---- schedules

mutants("passes", "libcore/schedule/schedule.cpp",
        ("⟦line(LineKind::wait, scatter);⟧", "line(LineKind::wait, i);"),
        ("last_users_[found->second] = ⟦static_cast<int>(i)⟧;", "std::min(static_cast<int>(i), 0)"),
        ("late = ⟦i + 1 < ops.size() && may_overlap(ops[i + 1])⟧ && op.code", "i + 1 < ops.size()"))
mutants("passes", "libcore/verify/schedule.cpp",
        ("if (at() != next_) ⟦return wrong(\"operators begin in the order of the text\");⟧", "(void)next_;"),
        ("if (courses_[i].done ⟦|| block_.ops[i].code == OpCode::yield⟧) continue;", "|| true"),
        ("const bool sends_operand = ⟦exchange.code != OpCode::scatter⟧;", "true"),
        ("if (open_) ⟦return wrong(\"another exchange is under way\");⟧", "(void)open_;"),
        ("⟦freed[form] = true;⟧", "(void)form;"))
mutants("cost", "libopt/time/overlap.cpp",
        ("open = line.kind == LineKind::start || (⟦open && line.kind != LineKind::wait⟧);", "open"))

# ---- arrays that are whole in a file

mutants("readers", "libcomm/data/base/stored_table.cpp",
        ("const std::byte* const source = from + ⟦(first - begin)⟧;", "0"),
        ("std::memcpy(piece.to + ⟦(first - piece.begin)⟧, source", "0"),
        ("const std::int64_t first = ⟦std::max(begin, piece.begin)⟧, last", "begin"),
        ("Bytes held(memory, memory->data() + ⟦(offset - begin)⟧,", "0"))
mutants("readers", "libcomm/data/bundle/stored.cpp",
        ("at.planes.push_back((*array.offsets)[next] + (⟦p * place.elements⟧ + first)", "0"),
        ("if (⟦read.digests.compare(at, digest_digits, digests[static_cast<std::size_t>(k)]) != 0⟧) return false;", "false"))
mutants("readers", "libcomm/data/bundle/arrays_write.cpp",
        ("out_->write(datasets[next], (⟦p * place.elements⟧ + first * row) * width,", "0"))
mutants("readers", "libcore/boxes/box_parts.cpp",
        ("if (cut == no_axis) return ⟦worker == 0⟧;", "false"))
mutants("readers", "libcomm/data/cut/part_builder.cpp",
        ("lines[begin + k] = ⟦lines[begin + k] / size * local⟧ + some[k];", "lines[begin + k] / size * (local - 1)"))
mutants("readers", "libcomm/data/cut/partition_steps.h",
        ("for (std::int64_t& line : lines) ⟦line %= rows;⟧", "line = std::min(line, rows - 1);"))
mutants("readers", "libcomm/data/cut/entry_groups.cpp",
        ("return section.first + ⟦section.own⟧ + group * section.foreign", "0"))
mutants("readers", "libcomm/data/cut/batches.cpp",
        ("if (size > 0 && ⟦lines() % size == 0⟧) return lines() / size;", "true"),
        ("if (⟦counted() ? lines() == wanted : lines() <= wanted⟧) return;", "lines() <= wanted"))
mutants("readers", "libcomm/data/bundle/manifest_read.cpp",
        ("return dim.local && ⟦dim.size == batches⟧;", "true"))

# ---- dense products that are cut by columns, too

mutants("kernels", "libkernels/dense/dense.cpp",
        ("multiply(CblasTrans, tile, ⟦x + columns.first⟧, some, begun", "x"),
        ("T* y = lane.y + rows.first * columns_ + ⟦columns.first⟧;", "0"),
        ("if (!lane.onto && (empty || ⟦!lane.transposed⟧))", "lane.transposed"),
        ("block(b, thread, from, ⟦std::min(at_once_, columns_ - from)⟧);", "at_once_"))
mutants("kernels", "libkernels/dense/zero_products.h",
        ("⟦if (p_.apart == p_.columns) return holds(row(p_.b, steps() * p_.columns));⟧", "return holds(row(p_.b, steps() * p_.columns));"))
