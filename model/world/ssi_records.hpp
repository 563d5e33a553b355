// The bytes that SSI keeps in a world (SsiLayout). Internal to ssi.cpp.
#pragma once

#include "model/world/layout.hpp"
#include "model/world/plan.hpp"

namespace oncecheck {

inline constexpr int kSsiRecordBytes = 8;
enum SsiStatus : std::uint8_t { kSsiFree = 0, kSsiActive = 1, kSsiCommitted = 2 };
inline constexpr std::uint8_t kSsiDoomed = 1, kSsiReadOnly = 2, kSsiConflictOut = 4, kSsiWrote = 8;

using SsiMask = std::uint16_t;
inline SsiMask load_mask(const std::uint8_t* p) { return static_cast<SsiMask>(p[0] | (p[1] << 8)); }
inline void store_mask(std::uint8_t* p, SsiMask m) {
  p[0] = static_cast<std::uint8_t>(m);
  p[1] = static_cast<std::uint8_t>(m >> 8);
}
inline SsiMask bit_of(int record) { return static_cast<SsiMask>(1u << record); }

// Records of active transactions have the number of their session; committed ones follow in commit order, so of two committed
// ones the smaller number committed first.
class SsiRecords {
 public:
  SsiRecords(const Plan& plan, std::uint8_t* w, int db);

  void begin(int record, bool read_only);
  // The active record becomes the newest committed one, or nothing when no active transaction overlaps it. False: no room.
  bool finish(int record);
  void erase(int record);
  // Committed transactions that overlap no active one can never matter again.
  void forget_old();

  bool active(int r) const { return at(r)[0] == kSsiActive; }
  bool committed(int r) const { return at(r)[0] == kSsiCommitted; }
  bool flag(int r, std::uint8_t f) const { return (at(r)[1] & f) != 0; }
  void set_flag(int r, std::uint8_t f) { at(r)[1] = static_cast<std::uint8_t>(at(r)[1] | f); }
  bool doomed(int r) const { return flag(r, kSsiDoomed); }
  bool read_only(int r) const { return flag(r, kSsiReadOnly); }
  SsiMask in_of(int r) const { return load_mask(at(r) + 2); }
  SsiMask out_of(int r) const { return load_mask(at(r) + 4); }
  bool concurrent(int a, int b) const { return (load_mask(at(a) + 6) & bit_of(b)) != 0; }
  bool has_edge(int reader, int writer) const { return (out_of(reader) & bit_of(writer)) != 0; }
  void add_edge(int reader, int writer);

  template <class Visit>
  void each(SsiMask mask, Visit visit) const {
    for (int r = 0; r < count_; ++r) {
      if (mask & bit_of(r)) visit(r);
    }
  }

  std::uint8_t* table_mask(int table);
  std::uint8_t* index_mask(int table, int index);
  void read(std::uint8_t* mask, int record) { store_mask(mask, static_cast<SsiMask>(load_mask(mask) | bit_of(record))); }
  bool remember_key(int table, int index, CellId value, int record);  // false: no room
  template <class Visit>
  void each_key(int table, int index, CellId value, Visit visit) {
    for (int i = 0; i < ssi_.key_slots; ++i) {
      std::uint8_t* k = key(i);
      if (k[0] == index_number(table, index) + 1 && key_value(k) == value) visit(k + 1 + layout_.cell);
    }
  }

 private:
  const std::uint8_t* at(int r) const { return w_ + ssi_.offset + r * kSsiRecordBytes; }
  std::uint8_t* at(int r) { return w_ + ssi_.offset + r * kSsiRecordBytes; }
  std::uint8_t* key(int i) { return w_ + ssi_.keys + i * ssi_.key_stride; }
  CellId key_value(const std::uint8_t* k) const;
  int index_number(int table, int index) const;
  // Calls visit(p) for each mask of records, each_number(p) for each byte that holds a record + 1.
  template <class OnMask, class OnNumber>
  void each_reference(OnMask on_mask, OnNumber on_number);
  void move(int from, int to);

  const Layout& layout_;
  const DatabaseLayout& db_;
  const SsiLayout& ssi_;
  std::uint8_t* w_;
  int count_;
};

}  // namespace oncecheck
