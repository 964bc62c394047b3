// The keys of a run's counters and their members. Writer, reader and merge share the rows. Private to run_report*.cpp.
#pragma once

#include "libopt/time/run_report.h"

namespace kasen {

inline constexpr int run_report_version = 1;

struct OpField {
  const char* key;
  std::int64_t OpCount::*member;
  bool summed;         // over ranks
  bool always = true;  // false: only where it is not 0
};
inline constexpr OpField op_fields[] = {
    {"executions", &OpCount::executions, false},
    {"read_bytes", &OpCount::read_bytes, true},
    {"written_bytes", &OpCount::written_bytes, true},
    {"network_bytes", &OpCount::network_bytes, true},
    {"turns", &OpCount::iterations, false},
    {"disk_read_bytes", &OpCount::disk_read_bytes, true, false},
    {"disk_written_bytes", &OpCount::disk_written_bytes, true, false},
    {"moved_elements", &OpCount::moved_elements, true, false},
    {"moved_rank_bytes", &OpCount::moved_rank_bytes, true, false},
    {"moved_rank_messages", &OpCount::moved_rank_messages, true, false},
    {"moved_node_bytes", &OpCount::moved_node_bytes, true, false},
};

struct KindWord {
  const char* word;
  SymbolKind kind;
};
inline constexpr KindWord control_words[] = {{"trips", SymbolKind::trips}, {"then", SymbolKind::taken}};
inline constexpr KindWord size_words[] = {
    {"indices", SymbolKind::size}, {"nonzeros", SymbolKind::entries}, {"ghosts", SymbolKind::slaves}};

struct PartField {
  const char* key;
  std::int64_t PartCount::*member;
  bool always = true;  // false: older reports lack it
};
inline constexpr PartField part_fields[] = {
    {"buffer_bytes", &PartCount::buffer_bytes},
    {"exchange_bytes", &PartCount::exchange_bytes},
    {"matrix_bytes", &PartCount::matrix_bytes},
    {"input_bytes", &PartCount::input_bytes},
    {"list_bytes", &PartCount::list_bytes, false},
    {"sent_bytes", &PartCount::sent_bytes, false},
    {"received_bytes", &PartCount::received_bytes, false},
};

struct TrafficField {
  const char* key;
  std::int64_t Traffic::*member;
  bool always = true;  // false: only where it is not 0
};
inline constexpr TrafficField traffic_fields[] = {
    {"worker_bytes", &Traffic::worker_bytes},
    {"rank_bytes", &Traffic::rank_bytes},
    {"rank_messages", &Traffic::rank_messages},
    {"node_bytes", &Traffic::node_bytes, false},
};

struct RankField {
  const char* key;
  int RankCount::*member;
};
inline constexpr RankField rank_fields[] = {
    {"rank", &RankCount::rank}, {"first_worker", &RankCount::first_worker}, {"workers", &RankCount::workers}};

struct ChoiceField {
  const char* key;
  std::string MadeChoice::*member;
};
inline constexpr ChoiceField choice_fields[] = {
    {"choice", &MadeChoice::choice}, {"way", &MadeChoice::way}, {"other", &MadeChoice::other}, {"by", &MadeChoice::by}};

struct VerifiedField {
  const char* key;
  std::int64_t VerifiedOutput::*member;
};
inline constexpr VerifiedField verified_fields[] = {{"elements", &VerifiedOutput::elements},
                                                    {"recomputed", &VerifiedOutput::recomputed},
                                                    {"differing", &VerifiedOutput::differing}};

}  // namespace kasen
