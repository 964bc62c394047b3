#include "libcomm/data/text/date_text.h"

#include <chrono>

namespace kasen {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;

constexpr std::int64_t day_seconds = 86400, hour_seconds = 3600, minute_seconds = 60;
constexpr std::int64_t fraction_unit = 1'000'000'000;

constexpr const char* no_date = "a date is written like 2024-02-29 or 29.02.2024";
constexpr const char* no_order = "whether the day or the month comes first is not known";
constexpr const char* order_remedy =
    "write it like 2024-02-29; in Python: pandas.to_datetime(column, dayfirst=True), or dayfirst=False";
constexpr const char* no_time = "a time is written like 12:30, 12:30:05 or 12:30:05.25";
constexpr const char* no_zone = "a zone is written like Z or +01:00";

class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return text_.empty(); }
  [[nodiscard]] char next() const { return text_.empty() ? '\0' : text_[0]; }
  bool skip(char c) {
    if (next() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Exactly so many digits; -1 where there are others.
  std::int64_t number(std::size_t digits) {
    std::int64_t value = 0;
    if (text_.size() < digits) return -1;
    for (std::size_t k = 0; k < digits; ++k) {
      if (text_[k] < '0' || text_[k] > '9') return -1;
      value = 10 * value + (text_[k] - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  // One digit or two.
  std::int64_t short_number() {
    const bool two = text_.size() > 1 && text_[1] >= '0' && text_[1] <= '9';
    return number(two ? 2 : 1);
  }
  // One to nine digits behind a point, in billionths; -1 where there are none or more.
  std::int64_t fraction() {
    std::int64_t value = 0, unit = fraction_unit;
    for (; next() >= '0' && next() <= '9'; text_.remove_prefix(1)) {
      if (unit == 1) return -1;
      unit /= 10;
      value += unit * (next() - '0');
    }
    return unit == fraction_unit ? -1 : value;
  }

 private:
  std::string_view text_;
};

struct Moment {
  std::int64_t days = 0, seconds = 0, billionths = 0;  // since 1970; seconds may leave the day for another zone
};

const char* set_day(std::int64_t y, std::int64_t m, std::int64_t d, Moment& moment) {
  if (y == 0) return "years are 0001 to 9999";
  if (m < 1 || m > 12) return "months are 01 to 12";
  const std::chrono::year_month_day date{year(static_cast<int>(y)), month(static_cast<unsigned>(m)),
                                         day(static_cast<unsigned>(d))};
  if (!date.ok()) return "the month has no such day";
  moment.days = sys_days(date).time_since_epoch().count();
  return nullptr;
}

// 29.02.2024; nobody knows what 02/03/2024 is.
const char* read_day_first(Digits& text, Moment& moment) {
  const std::int64_t d = text.short_number();
  if (d >= 0 && text.next() == '/') return no_order;
  if (d < 0 || !text.skip('.')) return no_date;
  const std::int64_t m = text.short_number();
  if (m < 0 || !text.skip('.')) return no_date;
  const std::int64_t y = text.number(4);
  return y < 0 ? no_date : set_day(y, m, d, moment);
}

const char* read_day(Digits& text, Moment& moment) {
  Digits iso = text;
  const std::int64_t y = iso.number(4);
  if (y < 0) return read_day_first(text, moment);
  text = iso;
  if (!text.skip('-')) return no_date;
  const std::int64_t m = text.number(2);
  if (m < 0 || !text.skip('-')) return no_date;
  const std::int64_t d = text.number(2);
  return d < 0 ? no_date : set_day(y, m, d, moment);
}

const char* read_time(Digits& text, Moment& moment) {
  const std::int64_t hours = text.number(2);
  if (hours < 0 || !text.skip(':')) return no_time;
  const std::int64_t minutes = text.number(2);
  if (minutes < 0) return no_time;
  std::int64_t seconds = 0;
  if (text.skip(':')) {
    seconds = text.number(2);
    if (seconds < 0) return no_time;
    if (text.skip('.')) moment.billionths = text.fraction();
    if (moment.billionths < 0) return "a second has 1 to 9 digits behind the point";
  }
  if (hours > 23 || minutes > 59 || seconds > 59) return "times are 00:00:00 to 23:59:59";
  moment.seconds = hours * hour_seconds + minutes * minute_seconds + seconds;
  return nullptr;
}

const char* read_zone(Digits& text, Moment& moment) {
  if (text.done() || text.skip('Z') || text.skip('z')) return nullptr;
  const bool behind = text.next() == '-';
  if (!text.skip('-') && !text.skip('+')) return no_zone;
  const std::int64_t hours = text.number(2);
  if (hours < 0 || !text.skip(':')) return no_zone;
  const std::int64_t minutes = text.number(2);
  if (minutes < 0) return no_zone;
  if (hours > 23 || minutes > 59) return "zones are -23:59 to +23:59";
  const std::int64_t offset = hours * hour_seconds + minutes * minute_seconds;
  moment.seconds += behind ? offset : -offset;
  return nullptr;
}

std::int64_t first_day(std::int64_t of_year) {
  return sys_days(year(static_cast<int>(of_year)) / 1 / 1).time_since_epoch().count();
}

double years_of(Moment moment) {
  while (moment.seconds < 0) --moment.days, moment.seconds += day_seconds;
  while (moment.seconds >= day_seconds) ++moment.days, moment.seconds -= day_seconds;
  const std::chrono::year_month_day date(sys_days(std::chrono::days(moment.days)));
  const auto of = static_cast<std::int64_t>(static_cast<int>(date.year()));
  const std::int64_t begin = first_day(of), length = first_day(of + 1) - begin;
  const long double over = static_cast<long double>((moment.days - begin) * day_seconds + moment.seconds) +
                           static_cast<long double>(moment.billionths) / fraction_unit;
  return static_cast<double>(static_cast<long double>(of - 1970) +
                             over / static_cast<long double>(length * day_seconds));
}

double number_of(const Moment& moment, DateUnit unit) {
  if (unit == DateUnit::years) return years_of(moment);
  const long double seconds = static_cast<long double>(moment.days * day_seconds + moment.seconds) +
                              static_cast<long double>(moment.billionths) / fraction_unit;
  return static_cast<double>(unit == DateUnit::seconds ? seconds : seconds / day_seconds);
}

}  // namespace

DateNumber date_number(std::string_view text, DateUnit unit) {
  Digits digits(text);
  Moment moment;
  const char* fault = read_day(digits, moment);
  if (fault == nullptr && (digits.skip('T') || digits.skip('t') || digits.skip(' '))) {
    fault = read_time(digits, moment);
    if (fault == nullptr) fault = read_zone(digits, moment);
  }
  if (fault == nullptr && !digits.done()) fault = no_date;
  if (fault != nullptr) return {.fault = fault, .remedy = fault == no_order ? order_remedy : ""};
  return {.value = number_of(moment, unit)};
}

}  // namespace kasen
