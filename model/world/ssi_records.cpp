#include "model/world/ssi_records.hpp"

#include <cstring>

#include "model/world/cells.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

SsiRecords::SsiRecords(const Plan& plan, std::uint8_t* w, int db)
    : layout_(plan.layout),
      db_(plan.layout.databases[static_cast<std::size_t>(db)]),
      ssi_(db_.ssi),
      w_(w),
      count_(ssi_.sessions + ssi_.committed) {}

CellId SsiRecords::key_value(const std::uint8_t* k) const { return load_cell(layout_, k + 1); }

int SsiRecords::index_number(int table, int index) const {
  int number = index;
  for (int t : db_.tables) {
    if (t == table) break;
    number += static_cast<int>(layout_.tables[static_cast<std::size_t>(t)].indexes.size());
  }
  return number;
}

std::uint8_t* SsiRecords::table_mask(int table) {
  int place = 0;
  for (int t : db_.tables) {
    if (t == table) break;
    ++place;
  }
  return w_ + ssi_.tables + 2 * place;
}

std::uint8_t* SsiRecords::index_mask(int table, int index) { return w_ + ssi_.indexes + 2 * index_number(table, index); }

void SsiRecords::begin(int record, bool read_only) {
  CHECK_THAT(at(record)[0] == kSsiFree);
  at(record)[0] = kSsiActive;
  if (read_only) set_flag(record, kSsiReadOnly);
  SsiMask concurrent = 0;
  for (int r = 0; r < ssi_.sessions; ++r) {
    if (r == record || !active(r)) continue;
    concurrent = static_cast<SsiMask>(concurrent | bit_of(r));
    read(at(r) + 6, record);
  }
  store_mask(at(record) + 6, concurrent);
}

void SsiRecords::add_edge(int reader, int writer) {
  read(at(reader) + 4, writer);
  read(at(writer) + 2, reader);
}

template <class OnMask, class OnNumber>
void SsiRecords::each_reference(OnMask on_mask, OnNumber on_number) {
  for (int r = 0; r < count_; ++r) {
    for (int field : {2, 4, 6}) on_mask(at(r) + field);
  }
  for (std::size_t t = 0; t < db_.tables.size(); ++t) on_mask(w_ + ssi_.tables + 2 * static_cast<int>(t));
  for (int i = 0; i < ssi_.index_count; ++i) on_mask(w_ + ssi_.indexes + 2 * i);
  for (int i = 0; i < ssi_.key_slots; ++i) {
    std::uint8_t* k = key(i);
    if (k[0] == 0) continue;
    std::uint8_t* mask = k + 1 + layout_.cell;
    on_mask(mask);
    if (load_mask(mask) == 0) std::memset(k, 0, static_cast<std::size_t>(ssi_.key_stride));
  }
  for (int t : db_.tables) {
    const TableLayout& table = layout_.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots; ++i) {
      std::uint8_t* v = slot_of(table, w_, i);
      if (v[kXmin] == 0) continue;
      on_number(v + table.ssi);
      on_number(v + table.ssi + 1);
      on_mask(v + table.ssi + 2);
    }
  }
}

void SsiRecords::erase(int record) {
  std::memset(at(record), 0, kSsiRecordBytes);
  each_reference([&](std::uint8_t* p) { store_mask(p, static_cast<SsiMask>(load_mask(p) & ~bit_of(record))); },
                 [&](std::uint8_t* p) {
                   if (*p == record + 1) *p = 0;
                 });
}

void SsiRecords::move(int from, int to) {
  std::memcpy(at(to), at(from), kSsiRecordBytes);
  std::memset(at(from), 0, kSsiRecordBytes);
  each_reference(
      [&](std::uint8_t* p) {
        const SsiMask m = load_mask(p);
        if (m & bit_of(from)) store_mask(p, static_cast<SsiMask>((m & ~bit_of(from)) | bit_of(to)));
      },
      [&](std::uint8_t* p) {
        if (*p == from + 1) *p = static_cast<std::uint8_t>(to + 1);
      });
}

bool SsiRecords::finish(int record) {
  at(record)[0] = kSsiCommitted;
  forget_old();
  if (at(record)[0] == kSsiFree) return true;
  for (int r = ssi_.sessions; r < count_; ++r) {
    if (at(r)[0] != kSsiFree) continue;
    move(record, r);
    return true;
  }
  return false;
}

void SsiRecords::forget_old() {
  SsiMask live = 0;
  for (int r = 0; r < ssi_.sessions; ++r) {
    if (active(r)) live = static_cast<SsiMask>(live | bit_of(r));
  }
  for (int r = 0; r < count_; ++r) {
    if (committed(r) && (load_mask(at(r) + 6) & live) == 0) erase(r);
  }
  int to = ssi_.sessions;
  for (int r = ssi_.sessions; r < count_; ++r) {
    if (!committed(r)) continue;
    if (r != to) move(r, to);
    ++to;
  }
}

bool SsiRecords::remember_key(int table, int index, CellId value, int record) {
  const int number = index_number(table, index) + 1;
  std::uint8_t* room = nullptr;
  for (int i = 0; i < ssi_.key_slots; ++i) {
    std::uint8_t* k = key(i);
    if (k[0] == 0 && room == nullptr) room = k;
    if (k[0] == number && key_value(k) == value) {
      read(k + 1 + layout_.cell, record);
      return true;
    }
  }
  if (room == nullptr) return false;
  room[0] = static_cast<std::uint8_t>(number);
  store_cell(layout_, room + 1, value);
  store_mask(room + 1 + layout_.cell, bit_of(record));
  return true;
}

}  // namespace oncecheck
