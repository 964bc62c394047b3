#include "tools/run/checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "libcomm/data/base/digest.h"
#include "tools/launch/launch.h"
#include "tools/launch/params.h"
#include "tools/launch/signals.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string place_text(const Module& module, const BorderPlace& place) {
  Location where;
  std::string name;
  for_each_op(module, [&](const Op& op, int number, int) {
    if (number != place.op) return;
    where = op.where;
    name = op.code == OpCode::region ? region_name(op.kind) : row(op.code).name;
  });
  const std::string& file = where.file.empty() ? module.source_name : where.file;
  const std::string what =
      place.behind ? fmt::format("the operator {}", name) : fmt::format("iteration {} of the loop", place.iterations);
  return fmt::format("{} at {}:{}:{}", what, file, where.line, where.column);
}

// Leaves out the remedy: the run needs none.
std::string text_of(const UserError& error) {
  const Diagnostic& d = error.diagnostics().front();
  return d.why.empty() ? d.what : fmt::format("{}; {}", d.what, d.why);
}

}  // namespace

RunCheckpoints::RunCheckpoints(const RunSettings& settings, const Module& module, const BundleInfo& bundle,
                               const Part& part, const RunOptions& options, const Transport& transport,
                               Cluster& cluster, const JobOutput& output)
    : settings_(settings),
      module_(module),
      cluster_(cluster),
      output_(output),
      first_worker_(transport.first_worker()),
      whole_(whole_plan(module, part, bundle.any_workers)) {
  const CheckpointKey key{digest_of(print_module(module, false)), bundle.digest,
                          digest_of(params_text(module, options.params)), bundle.workers};
  folder_ = std::make_unique<Checkpoints>(settings.checkpoint, key, cluster, first_worker_, transport.local_workers(),
                                          settings.keep, whole_ ? &*whole_ : nullptr);
  if (settings.resume) find_newest();
  cluster.together([&] {
    if (settings.resume || folder_->empty()) return;
    fail(ExitStatus::usage, fmt::format("'{}' holds checkpoints of an earlier run", settings.checkpoint),
         "a new run would leave them behind", "add --resume to go on from them, or name another folder");
  });
}

void RunCheckpoints::find_newest() {
  from_ = folder_->newest([&](const std::string& why) { warn(fmt::format("{}; it is skipped", why)); });
  if (!from_) {
    if (!folder_->empty())
      warn(fmt::format("the run cannot go on from any checkpoint in '{}'; it begins from the start",
                       settings_.checkpoint));
    return;
  }
  resume_.place = from_->place();
  resume_.read = [this](const HeldValue& held, std::int64_t array, int part, std::int64_t count) {
    return from_->read(held, module_.value(held.value), array, first_worker_ + part, count);
  };
}

void RunCheckpoints::attach(RunOptions& options) {
  if (from_) options.resume = &resume_;
  options.on_border = [this](const Border& border) { at_border(border); };
}

// Operators outside of loops are counted by themselves: loops are saved after the iterations that were asked for.
bool RunCheckpoints::is_due(bool behind) const {
  if (settings_.every > 0 && (behind ? operators_ : iterations_) >= settings_.every) return true;
  return settings_.every_seconds > 0 && seconds_since(last_) >= settings_.every_seconds;
}

// One small reduction a border: rank 0's clock decides for all, and a signal may reach any of them.
void RunCheckpoints::at_border(const Border& border) {
  enum : std::int64_t { nothing, due, last };
  const bool behind = border.place().behind;
  ++(behind ? operators_ : iterations_);
  const bool first_rank = cluster_.rank() == 0;
  const std::int64_t mine = stop_signal_came() ? last : first_rank && is_due(behind) ? due : nothing;
  const std::int64_t wanted = cluster_.largest(mine);
  if (wanted == nothing || (wanted == due && border.values().empty())) return;
  write(border, wanted == last);
  if (wanted != last) return;
  throw Stopped{
      fmt::format("kasen-run: stopped by a signal after {}; all is saved in {}; the same command with --resume "
                  "goes on from there",
                  place_text(module_, border.place()), newest_)};
}

// A run does not end because a save fails; but where it ends anyway, the failure is its error.
void RunCheckpoints::write(const Border& border, bool last) {
  const auto begin = std::chrono::steady_clock::now();
  iterations_ = operators_ = 0;
  last_ = begin;
  bool whole = false;
  try {
    newest_ = folder_->write(module_, border);
    ++written_;
    whole = true;
  } catch (const UserError& error) {
    if (last) throw;
    warn_anew(fmt::format("no checkpoint: {}; the run goes on", text_of(error)));
  } catch (const JobFailed& failed) {
    if (last) throw;
    const std::string text = failed.text.substr(failed.text.starts_with("error: ") ? 7 : 0);
    warn_anew(fmt::format("no checkpoint: {}; the run goes on", text));
  }
  try {
    folder_->rotate();
    if (whole) warned_.clear();
  } catch (const UserError& error) {
    warn_anew(fmt::format("an old checkpoint stays: {}; the run goes on", text_of(error)));
  }
  last_ = std::chrono::steady_clock::now();
  seconds_ += seconds_since(begin);
}

// Warns once when the disk stays full, although the texts for each checkpoint differ in its number.
void RunCheckpoints::warn_anew(const std::string& text) {
  std::string reason = text;
  std::erase_if(reason, [](char c) { return c >= '0' && c <= '9'; });
  if (std::exchange(warned_, reason) != reason) warn(text);
}

void RunCheckpoints::warn(const std::string& text) const {
  if (cluster_.rank() != 0) return;
  tell_of_job(output_, fmt::format("kasen-run: warning: {}", text));
}

std::string RunCheckpoints::summary() const {
  std::string text;
  if (from_) {
    const std::string saver = from_->is_carried() ? fmt::format("another plan, of {} workers, ", from_->workers()) : "";
    text += fmt::format("resumed: {} ({}after {})\n", from_->folder(), saver, place_text(module_, from_->place()));
  }
  if (written_ > 0) text += fmt::format("checkpoints: {} in {:.3f} s, the newest {}\n", written_, seconds_, newest_);
  return text;
}

Json RunCheckpoints::facts() const {
  Json json{{"resumed_from", from_ ? Json(from_->folder()) : Json()}, {"written", written_}, {"seconds", seconds_}};
  json["newest"] = newest_.empty() ? Json() : Json(newest_);
  return json;
}

}  // namespace kasen::tools
